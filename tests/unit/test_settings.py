"""Where each option's value comes from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import OptionError
from clew.options import AnswerOptions, IndexOptions, LlmOptions, SearchOptions
from clew.settings import find_config, known, load


def write(folder: Path, text: str) -> Path:
    path = folder / "clew.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_those_of_the_options() -> None:
    settings = load(environ={})
    assert settings.index_options() == IndexOptions()
    assert settings.search_options() == SearchOptions()
    assert settings.answer_options() == AnswerOptions()
    assert settings.llm_options() == LlmOptions()
    assert {value.origin for value in settings.values.values()} == {"default"}


def test_file_then_variable_then_flag(tmp_path: Path) -> None:
    path = write(tmp_path, 'language = "uk"\n[chunk]\nsize = 100\noverlap = 10\nrecord_size = 99\n')
    environ = {"CLEW_CHUNK_OVERLAP": "20", "CLEW_CHUNK_SIZE": "200", "CLEW_SOURCE_INCLUDE": "*.md, *.txt"}
    settings = load([tmp_path], {"chunk.size": 300, "chunk.overlap": None}, environ)
    options = settings.index_options()
    assert (options.chunk.size, options.chunk.overlap, options.chunk.record_size) == (300, 20, 99)
    assert options.source.include == ("*.md", "*.txt")
    assert options.language == "uk"
    assert settings.values["chunk.size"].origin == "--chunk-size"
    assert settings.values["chunk.overlap"].origin == "CLEW_CHUNK_OVERLAP"
    assert settings.values["chunk.record_size"].origin == str(path)


def test_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outer = write(tmp_path, "")
    assert find_config([inner]) == outer
    nearer = write(tmp_path / "a", "")
    assert find_config([inner]) == nearer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[chunk]\nsze = 3\n", ["chunk.sze", "no such option", "chunk.size"]),
        ("overlap = 3\n", ["overlap", "no such option", "chunk.overlap"]),
        ("[chnk]\n", ["chnk", "no such option"]),
        ("[chunk]\nsize = 9000\n", ["chunk.size", "9000", "from 0 to 8192"]),
        ("[chunk]\nsize = true\n", ["chunk.size", "whole number"]),
        ("[chunk]\nsize = 1.5\n", ["chunk.size", "whole number"]),
        ("chunk = 3\n", ["chunk", "no such option"]),
        ('[source]\ninclude = "*.md"\n', ["source.include", "a list of texts"]),
        ("[community]\nresolution = nan\n", ["community.resolution", "a number"]),
        ("[chunk\n", ["clew.toml", "not valid TOML"]),
    ],
)
def test_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    write(tmp_path, text)
    with pytest.raises(OptionError) as caught:
        load([tmp_path], environ={})
    for word in words:
        assert word in str(caught.value)


def test_bad_variable_and_bad_flag_name_themselves() -> None:
    with pytest.raises(OptionError, match=r"CLEW_CHUNK_SIZE: 'many' isn't a whole number"):
        load(environ={"CLEW_CHUNK_SIZE": "many"})
    with pytest.raises(OptionError, match=r"--chunk-size: -1 is out of range"):
        load(flags={"chunk.size": -1}, environ={})


def test_misspelt_variable_is_told_and_a_foreign_one_is_not() -> None:
    settings = load(environ={"CLEW_CHUNK_SIZ": "3", "CLEW_SHARED": "x", "CLEW_INDEX": "y"})
    assert settings.warnings == ("CLEW_CHUNK_SIZ: no such variable. Did you mean CLEW_CHUNK_SIZE?",)


def test_flags_and_variables_are_distinct() -> None:
    asking = {"search", "answer"}  # no command has these and those of indexing: `--reports` is in both
    small = {"context"}  # nor has one what `clew context` has: its `--budget` is one of tokens alone
    for some in (asking, small, {s.key.partition(".")[0] for s in known().values()} - asking - small):
        flags = [setting.flag for setting in known().values() if setting.key.partition(".")[0] in some]
        assert len(set(flags)) == len(flags)
    variables = [setting.variable for setting in known().values()]
    assert len(set(variables)) == len(variables)
    assert all(setting.help for setting in known().values())


def test_a_language_model_goes_by_its_short_name_everywhere_but_in_the_file(tmp_path: Path) -> None:
    write(tmp_path, '[llm]\nmodel = "ollama:a"\nbudget = "200k tokens"\n')
    settings = load([tmp_path], {}, {"CLEW_RATING_LLM": "ollama:b", "CLEW_LLM_TIMEOUT": "9"})
    options = settings.llm_options()
    assert (options.model, options.rating_model, options.timeout) == ("ollama:a", "ollama:b", 9.0)
    assert (
        load([tmp_path], {"llm.model": "none"}, {"CLEW_LLM": "ollama:c"}).values["llm.model"].origin
        == "--llm"
    )
    assert load([tmp_path], {}, {"CLEW_LLM": "ollama:c"})["llm.model"] == "ollama:c"
