"""Which language a text is in: by script where the script tells, else by statistics."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from threading import Lock, Thread
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from clew.errors import PublishError

UNKNOWN = "und"
SAMPLE = 300  # characters; a document costs 0.1 ms for each hundred, and more rarely changes the verdict
FEWEST = 20  # letters below which statistics guess
SURE = 0.5  # the least probability that counts as knowing
# Scripts that one language of note is written in; Han without kana is Chinese.
SCRIPTS = (
    ("ja", regex.compile(r"[\p{Hiragana}\p{Katakana}]")),
    ("ko", regex.compile(r"\p{Hangul}")),
    ("zh", regex.compile(r"\p{Han}")),
    ("th", regex.compile(r"\p{Thai}")),
    ("el", regex.compile(r"\p{Greek}")),
    ("he", regex.compile(r"\p{Hebrew}")),
    ("hy", regex.compile(r"\p{Armenian}")),
    ("ka", regex.compile(r"\p{Georgian}")),
    ("lo", regex.compile(r"\p{Lao}")),
    ("km", regex.compile(r"\p{Khmer}")),
    ("ta", regex.compile(r"\p{Tamil}")),
    ("te", regex.compile(r"\p{Telugu}")),
    ("bn", regex.compile(r"\p{Bengali}")),
    ("am", regex.compile(r"\p{Ethiopic}")),
)
SCRIPT_SHARE = 0.3  # of the letters; a Japanese text is half Han, a Chinese one may hold many Latin names
KANA_SHARE = 0.05
LETTER = regex.compile(r"\p{L}")
SIDE_BY_SIDE = 12  # texts from which on reading them side by side is quicker
_LOADING = Lock()


def detect(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, or "und" if there is too little to tell by.

    Raises PublishError if there is no room to unpack the model, some megabytes in the temporary folder.
    """
    told = _by_script(text[:SAMPLE])
    return told if told is not None else _code(*_identifier().classify(text[:SAMPLE]))


def detect_all(texts: Sequence[str]) -> list[str]:
    """Return what ``detect`` does of each text; of many the statistics take half the time."""
    samples = [text[:SAMPLE] for text in texts]
    found = list(map(_by_script, samples))
    left = [at for at, code in enumerate(found) if code is None]
    if len(left) < SIDE_BY_SIDE:
        return [code if code is not None else detect(text) for code, text in zip(found, samples, strict=True)]
    for at, verdict in zip(left, _classify([samples[at] for at in left]), strict=True):
        found[at] = _code(*verdict)
    return [code or UNKNOWN for code in found]


def _classify(samples: Sequence[str]) -> list[tuple[str, float]]:
    """Return the identifier's verdicts. Its automaton reads a byte at a time in Python; here it reads one of
    each sample at a time. What it gives its scoring is the same, in the same order."""
    identifier = _identifier()
    data = [identifier._encode(sample) for sample in samples]
    size = np.fromiter(map(len, data), dtype=np.int64, count=len(data))
    order = np.argsort(-size, kind="stable")
    letters = np.zeros((int(size.max(initial=0)), len(data)), dtype=np.uint8)
    for column, at in enumerate(order.tolist()):
        letters[: size[at], column] = np.frombuffer(data[at], dtype=np.uint8)
    alive = np.searchsorted(-size[order], -np.arange(1, len(letters) + 1), side="right").tolist()
    moves, base, features = _automaton()
    state = np.zeros(len(data), dtype=np.int64)
    seen = np.full(letters.shape, -1, dtype=np.int64)
    for step, count in enumerate(alive):
        state = moves[base[state[:count]] + letters[step, :count]]
        seen[step, :count] = features[state]
    verdicts: list[tuple[str, float]] = [("", 0.0)] * len(data)
    scorer = copy(identifier)
    for column, at in enumerate(order.tolist()):
        visited = seen[:, column]
        scorer.visits = Counter(visited[visited >= 0].tolist())
        verdicts[at] = scorer.classify(samples[at])
    return verdicts


@cache
def _automaton() -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the identifier's automaton as arrays: where each row and byte lead, where a state's row begins,
    and each state's feature (-1: none)."""
    identifier = _identifier()
    moves = np.asarray(identifier.tk_nextmove, dtype=np.uint32)
    base, features = (np.array(one, dtype=np.int64) for one in (identifier._rowbase, identifier.tk_output))
    return moves, base, features


def _code(code: str, probability: float) -> str:
    return code if probability >= SURE else UNKNOWN


def _by_script(sample: str) -> str | None:
    """Return what a sample's letters tell of its language; None if statistics have to."""
    letters = len(sample) if sample.isascii() else len(LETTER.findall(sample))
    if not sample.isascii():
        for code, script in SCRIPTS:
            share = KANA_SHARE if code == "ja" else SCRIPT_SHARE
            if letters and len(script.findall(sample)) >= share * letters:
                return code
    if letters < FEWEST:
        return UNKNOWN
    return None


def preload() -> None:
    """Begin to load the model: 0.4 s, most of it unpacking, during which other threads go on."""
    Thread(target=_try_to_load, name="clew-language", daemon=True).start()


def _try_to_load() -> None:
    with suppress(Exception):  # who needs the model tries again, and tells why it can't be had
        _identifier()


def _identifier() -> Any:
    with _LOADING:  # of two threads that come first, one loads it
        return _load()


@cache
def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    class Identifier(LanguageIdentifier):  # type: ignore[misc]
        """Takes visited features that are known already."""

        visits: Counter[int] | None = None

        def _raw_score(self, text: bytes) -> Any:
            visits = self.visits
            return self._sparse_score(visits, self.nb_ptc) if visits else super()._raw_score(text)

    try:
        return Identifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        folder = tempfile.gettempdir() if tempfile.tempdir else "the temporary folder"
        reason = f"the model that tells languages can't be unpacked there ({error.strerror or error})"
        remedy = "Free some space, or set TMPDIR to another folder. The index that was there is unchanged"
        raise PublishError(folder, reason, remedy) from error


def language_name(code: str) -> str:
    """Return the English name of a language, or "" for an unknown one."""
    return _names().get(code, "")


@cache
def _names() -> dict[str, str]:
    return dict(pair.split(":") for pair in NAMES.split())


# English names of the languages that the identifier knows, for prompts.
NAMES = """
af:Afrikaans am:Amharic an:Aragonese ar:Arabic as:Assamese az:Azerbaijani be:Belarusian bg:Bulgarian
bn:Bengali br:Breton bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German dz:Dzongkha
el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fo:Faroese
fr:French ga:Irish gl:Galician gu:Gujarati he:Hebrew hi:Hindi hr:Croatian ht:Haitian hu:Hungarian
hy:Armenian id:Indonesian is:Icelandic it:Italian ja:Japanese jv:Javanese ka:Georgian kk:Kazakh
km:Khmer kn:Kannada ko:Korean ku:Kurdish ky:Kyrgyz la:Latin lb:Luxembourgish lo:Lao lt:Lithuanian
lv:Latvian mg:Malagasy mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay mt:Maltese
nb:Norwegian ne:Nepali nl:Dutch nn:Norwegian no:Norwegian oc:Occitan or:Odia pa:Punjabi pl:Polish
ps:Pashto pt:Portuguese qu:Quechua ro:Romanian ru:Russian rw:Kinyarwanda se:Sami si:Sinhala
sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu th:Thai
tl:Tagalog tr:Turkish ug:Uyghur uk:Ukrainian ur:Urdu vi:Vietnamese vo:Volapük wa:Walloon xh:Xhosa
zh:Chinese zu:Zulu
"""
