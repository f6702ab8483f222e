"""What servers do at bad moments, through the real client and the Caller."""

from __future__ import annotations

import json
import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from real_model import needs_client

from clew import registry
from clew.calls.caller import ModelCaller
from clew.errors import OptionError, ProviderBusy, ProviderDown, ProviderError
from clew.options import LlmOptions
from clew.stores.cache import open_cache
from clew.testing.chat_contract import drain
from clew.testing.faults import Act, Fault, FaultServer, busy, error
from clew.types import ChatMessage, ChatRequest, Cost

pytestmark = needs_client

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "score": {"type": "number"}},
    "required": ["name", "score"],
    "additionalProperties": False,
}
GOOD = '{"name": "Ada", "score": 0.5}'
VALUE = json.loads(GOOD)


class Waits:
    """A Clock that notes pauses instead of making them."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return time.monotonic() + sum(self.waits)

    def wait(self, seconds: float, stop: Event) -> None:
        if seconds > 0:
            self.waits.append(seconds)


class Greatest:
    def uniform(self, a: float, b: float) -> float:
        return b


def ask(text: str = "Who?", **more: Any) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), **{"max_tokens": 40, **more})


def caller(server: FaultServer, clock: Waits | None = None, **options: Any) -> ModelCaller:
    chosen = LlmOptions(**{"timeout": 20.0, "retries": 3, **options})
    model = registry.make_llm(f"{server.url}#any", chosen)
    assert model is not None
    return ModelCaller(model, chosen, clock=clock or Waits(), chance=Greatest())


def cost(made: ModelCaller) -> Cost:
    (only,) = made.ledger.rows
    return only


PASSING: dict[str, Act] = {
    "429 without Retry-After": busy(),
    "429 with Retry-After": busy(2),
    "500": error(500),
    "502 of a proxy": error(502),
    "503": error(503),
    "reset": Fault("reset"),
    "kept connection closed": Fault("closed"),
    "body cut": Fault("truncated"),
    "no JSON": Fault("garbage"),
    "no choices": {"choices": []},
    "null choices": {"choices": None},
    "an empty reply": "",
    "blank reply": "  \n ",
    "nothing but thoughts": "<think>hm</think>",
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_what_passes_is_survived(fault: Act) -> None:
    with FaultServer([fault, fault, "Here I am."]) as server:
        clock = Waits()
        made = caller(server, clock)
        assert made.complete(ask(), stage="s").text == "Here I am."
    assert len(server.seen.requests) == 3
    assert len(clock.waits) >= 2
    assert cost(made).calls + cost(made).failed == 3


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_what_does_not_pass_is_told_with_how_often_it_was_tried(fault: Act) -> None:
    with FaultServer([fault]) as server, pytest.raises(ProviderError, match="4 times") as caught:
        caller(server).complete(ask(), stage="s")
    assert caught.value.remedy
    assert len(server.seen.requests) == 4
    assert not isinstance(caught.value, ProviderBusy)


def test_retry_after_is_waited_for_in_seconds_milliseconds_and_as_a_date() -> None:
    from email.utils import formatdate

    with FaultServer([busy(2), busy(formatdate(time.time() + 60, usegmt=True)), "Yes."]) as server:
        clock = Waits()
        caller(server, clock).complete(ask(), stage="s")
    assert sum(clock.waits[:1]) == pytest.approx(2.5)
    assert 55 < sum(clock.waits) - 2.5 < 65


def test_an_hour_is_not_waited_for() -> None:
    with FaultServer([busy(3600)]) as server, pytest.raises(ProviderError, match="3,600 seconds"):
        caller(server).complete(ask(), stage="s")
    assert len(server.seen.requests) == 1


def test_no_answer_in_time_is_given_up_and_tried_again() -> None:
    with FaultServer([Fault("silence"), "Late."]) as server:
        made = caller(server, timeout=0.3)
        assert made.complete(ask(), stage="s").text == "Late."
    assert cost(made).prompt_tokens > 1  # the first may have to be paid


@pytest.mark.parametrize("kind", ["drip", "endless"])
@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_without_an_end_is_ended(kind: Any, streams: bool) -> None:
    begin = time.monotonic()
    with FaultServer([Fault(kind)]) as server:
        made = caller(server, timeout=0.5, retries=0)
        if streams and kind == "endless":
            pieces, reply = drain(made.stream(ask(), stage="s"))
            assert reply.finish == "length"
            assert 100 < len("".join(pieces)) < 5000
        elif streams:
            with pytest.raises(ProviderError, match="in the middle"):
                drain(made.stream(ask(), stage="s"))
        else:
            with pytest.raises(ProviderError, match=r"no end|no answer"):
                made.complete(ask(), stage="s")
    assert time.monotonic() - begin < 15


REFUSED = {
    401: ("Incorrect API key: sk-secret-key", "CLEW_LLM_KEY"),
    403: ("no access", "CLEW_LLM_KEY"),
    402: ("payment required", "Top it up"),
    404: ("The model 'any' does not exist", "model's name"),
    400: ("you can't do this", "documentation"),
    413: ("too large", "window"),
}


@pytest.mark.parametrize("status", REFUSED)
def test_what_will_stay_wrong_is_told_at_once_without_the_key(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_LLM_KEY", "sk-secret-key")
    monkeypatch.setenv("CLEW_LLM_HEADERS", "X-Token: hidden-token")
    message, remedy = REFUSED[status]
    with (
        FaultServer([error(status, message + " hidden-token")]) as server,
        pytest.raises(ProviderError) as caught,
    ):
        caller(server).complete(ask(), stage="s")
    assert remedy in str(caught.value)
    assert len(server.seen.requests) == 1
    assert server.seen.headers[0]["authorization"] == "Bearer sk-secret-key"
    assert server.seen.headers[0]["x-token"] == "hidden-token"
    told = f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert "secret" not in told
    assert "hidden" not in told


def test_no_credit_is_no_reason_to_try_again() -> None:
    play = [error(429, "You exceeded your quota", "insufficient_quota")]
    with FaultServer(play) as server, pytest.raises(ProviderError, match="no credit"):
        caller(server).complete(ask(), stage="s")
    assert len(server.seen.requests) == 1


def test_a_prompt_that_is_too_long_is_told_and_not_sent_in_other_ways() -> None:
    message = "This model's maximum context length is 4096 tokens"
    play = [error(400, message, "context_length_exceeded")]
    with FaultServer(play) as server, pytest.raises(ProviderError, match="too long"):
        caller(server).structured(ask(schema=SCHEMA), stage="s")
    assert len(server.seen.requests) == 1


def test_no_server_is_told_at_once_and_a_lost_one_is_waited_for() -> None:
    with FaultServer(["Hello."]) as server:
        made, lonely = caller(server), caller(server)
        made.complete(ask(), stage="s")
    with pytest.raises(ProviderError, match="no server answers there"):
        lonely.complete(ask("Else?"), stage="s")
    assert cost(lonely).failed == 1
    with pytest.raises(ProviderError, match="4 times"):
        made.complete(ask("Else?"), stage="s")


def test_a_kept_connection_that_is_closed_meanwhile_is_made_anew() -> None:
    with FaultServer([Fault("leaves")]) as server:
        made = caller(server)
        for n in range(4):
            assert made.complete(ask(str(n)), stage="s").text == "Well then."
            time.sleep(0.02)
    assert cost(made).calls == 4


def test_what_is_not_answered_in_time_is_not_waited_for_many_times() -> None:
    with FaultServer([Fault("silence")]) as server:
        with pytest.raises(ProviderError, match=r"within 0\.2 seconds, 2 times"):
            caller(server, timeout=0.2, retries=5).complete(ask(), stage="s")
        assert len(server.seen.requests) == 2


@pytest.mark.parametrize("fault", [error(401), error(404, "no such model"), error(402)], ids=str)
def test_where_no_call_can_go_well_the_others_are_not_made(fault: Act) -> None:
    with FaultServer([fault]) as server:
        made = caller(server, concurrency=3)
        found = dict(made.structured_all([ask(str(n), schema=SCHEMA) for n in range(60)], stage="s"))
    assert len(found) == 60
    assert {type(one) for one in found.values()} == {ProviderDown}
    assert len({str(one) for one in found.values()}) == 1
    assert len(server.seen.requests) <= 3


def test_a_server_that_fails_on_and_on_is_left_alone_for_a_while() -> None:
    with FaultServer([error(500)]) as server:
        clock = Waits()
        made = caller(server, clock, concurrency=2, retries=1)
        found = dict(made.structured_all([ask(str(n), schema=SCHEMA) for n in range(60)], stage="s"))
        assert all(isinstance(one, ProviderError) for one in found.values())
        assert len(server.seen.requests) <= 20
        clock.waits.append(60)
        with pytest.raises(ProviderError):
            made.complete(ask("later"), stage="s")
        assert server.seen.requests[-1]["messages"][-1]["content"] == "later"


# --- streams ---


@pytest.mark.parametrize("kind", ["breaks", "unfinished"])
def test_a_stream_that_breaks_off_is_an_error_and_not_kept(kind: Any, tmp_path: Path) -> None:
    cache = open_cache(tmp_path / "cache.sqlite")
    with FaultServer([Fault(kind), "The whole of it."]) as server:
        made = caller(server)
        made._cache = cache
        stream = made.stream(ask(), stage="s")
        assert next(stream) == "and "
        with pytest.raises(ProviderError, match="in the middle of the reply"):
            drain(stream)
        assert drain(made.stream(ask(), stage="s"))[1].text == "The whole of it."
    assert len(server.seen.requests) == 2
    assert cost(made).failed == 1
    cache.close()


@pytest.mark.parametrize("fault", [busy(1), error(503), Fault("reset"), Fault("closed"), ""], ids=str)
def test_a_stream_that_does_not_begin_is_begun_again(fault: Act) -> None:
    with FaultServer([fault, "The whole of it."]) as server:
        assert drain(caller(server).stream(ask(), stage="s"))[1].text == "The whole of it."


def test_thoughts_with_and_without_their_first_tag_are_no_part_of_a_reply() -> None:
    for text in ("<think>Who is it?</think>\n\nAda.", "Who is it?\n</think>\n\nAda."):
        with FaultServer([text]) as server:
            made = caller(server)
            assert made.complete(ask(), stage="s").text == "Ada."
            assert drain(made.stream(ask(), stage="s"))[1].text == "Ada."


# --- JSON ---

MENDED = {
    "in fences": f"```json\n{GOOD}\n```",
    "in fences with prose": f"Sure! Here it is:\n\n```\n{GOOD}\n```\nAnything else?",
    "with prose": f"The answer is {GOOD}, I think.",
    "after thoughts": f'<think>{{"name": 1}}</think>{GOOD}',
    "after thoughts without their first tag": f"So the name is {{x}}.\n</think>\n{GOOD}",
    "a comma at the end": '{"name": "Ada", "score": 0.5,}',
    "single quotes": "{'name': 'Ada', 'score': 0.5}",
    "in a list": f"[{GOOD}]",
    "no closing brace": '{"name": "Ada", "score": 0.5',
    "comments": '{"name": "Ada", // who\n "score": 0.5}',
    "a byte order mark": f"\ufeff{GOOD}",
}


@pytest.mark.parametrize("text", MENDED.values(), ids=MENDED.keys())
def test_json_is_found_and_mended(text: str) -> None:
    with FaultServer([text]) as server:
        made = caller(server)
        assert made.structured(ask(schema=SCHEMA), stage="s") == VALUE
    assert len(server.seen.requests) == 1


WRONG = {
    "truncated": '{"name": "Ad',
    "another form": '{"person": "Ada"}',
    "a wrong kind": '{"name": "Ada", "score": "high"}',
    "another language": "Ада, вона була першою.",
    "a list": "[1, 2]",
    "deep": "[" * 120,
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_mended_is_asked_for_again_once(text: str) -> None:
    with FaultServer([text, GOOD]) as server:
        made = caller(server)
        assert made.structured(ask(schema=SCHEMA), stage="s") == VALUE
    first, second = server.seen.requests
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "What is wrong" in second["messages"][-1]["content"]
    with FaultServer([text]) as server, pytest.raises(ProviderError, match="twice"):
        caller(server).structured(ask(schema=SCHEMA), stage="s")
    assert len(server.seen.requests) == 2


def test_a_reply_that_was_cut_is_told() -> None:
    with FaultServer(["word " * 200]) as server:
        made = caller(server)
        reply = made.complete(ask(), stage="s")
    assert reply.finish == "length"
    assert cost(made).cut == 1


def test_of_many_calls_those_that_fail_are_told_and_the_rest_go_on() -> None:
    def play(body: dict[str, Any]) -> Act:
        number = int(body["messages"][0]["content"])
        return error(400, "no") if number % 10 == 3 else json.dumps({"name": str(number), "score": 1})

    with FaultServer(play) as server:
        made = caller(server, concurrency=8)
        found = dict(made.structured_all([ask(str(n), schema=SCHEMA) for n in range(40)], stage="s"))
    failed = {number for number, value in found.items() if isinstance(value, ProviderError)}
    assert failed == {3, 13, 23, 33}
    assert all(found[n]["name"] == str(n) for n in set(range(40)) - failed)


# --- servers differ ---


def test_a_schema_is_sent_and_where_it_is_refused_the_next_way_is_remembered() -> None:
    with FaultServer([GOOD], refuses=["json_schema"]) as server:
        made = caller(server)
        for n in range(3):
            assert made.structured(ask(str(n), schema=SCHEMA), stage="s") == VALUE
    forms = [one["response_format"]["type"] for one in server.seen.requests]
    assert forms == ["json_schema", "json_object", "json_object", "json_object"]
    with FaultServer([GOOD], refuses=["response_format"]) as server:
        made = caller(server)
        made.structured(ask("1", schema=SCHEMA), stage="s")
        made.structured(ask("2", schema=SCHEMA), stage="s")
    assert [("response_format" in one) for one in server.seen.requests] == [True, True, False, False]


def test_a_server_that_takes_no_bounds_is_sent_the_schema_without_them() -> None:
    bounded = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "maxLength": 9}}}
    with FaultServer([GOOD], refuses=["maxLength"]) as server:
        made = caller(server)
        for n in range(2):
            assert made.structured(ask(str(n), schema=bounded), stage="s") == VALUE
    forms = [one["response_format"]["json_schema"]["schema"] for one in server.seen.requests]
    assert forms == [bounded, SCHEMA, SCHEMA]


@pytest.mark.parametrize("refused", ["temperature", "max_tokens", "stream_options"])
def test_what_a_server_does_not_know_is_left_out(refused: str) -> None:
    with FaultServer(["Well."], refuses=[refused]) as server:
        made = caller(server)
        assert drain(made.stream(ask("1"), stage="s"))[1].text == "Well."
        assert drain(made.stream(ask("2"), stage="s"))[1].text == "Well."
    assert len(server.seen.requests) == 3
    assert refused not in server.seen.requests[-1]
    if refused == "max_tokens":
        assert server.seen.requests[-1]["max_completion_tokens"] == 40


def test_connections_are_kept() -> None:
    with FaultServer(["Well."]) as server:
        made = caller(server)
        for n in range(5):
            made.complete(ask(str(n)), stage="s")
    assert server.seen.connections == 1


def test_a_refusal_is_a_reply_that_says_so() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I won't."}
    with FaultServer([{"choices": [{"message": message, "finish_reason": "stop"}]}]) as server:
        reply = caller(server).complete(ask(), stage="s")
    assert (reply.text, reply.finish) == ("I won't.", "refused")
    assert not reply.usage.exact


# --- where, and who ---


def test_windows_are_learnt_from_servers_that_tell_them() -> None:
    told = {
        "vLLM": {"id": "any", "max_model_len": 4096},
        "llama.cpp": {"id": "any", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}},
        "OpenRouter": {"id": "any", "context_length": 131072},
    }
    expected = {"vLLM": 4096, "llama.cpp": 2048, "OpenRouter": 131072}
    studio = {"data": [{"id": "any", "max_context_length": 32768, "loaded_context_length": 8192}]}
    with FaultServer(facts={"/api/v0/models": studio}) as server:
        assert caller(server).model.window == 8192
    for name, entry in told.items():
        with FaultServer(
            facts={"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, entry]}}
        ) as server:
            assert caller(server).model.window == expected[name]
    with FaultServer() as server:
        assert caller(server).model.window == 0
        assert caller(server, window=1024).model.window == 1024


def test_what_is_meant_for_openai_is_not_given_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_LLM_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "for-openai-2")
    monkeypatch.setenv("OPENAI_ORG_ID", "for-openai-3")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "for-openai-4")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-One: for-openai-5\nX-Two: for-openai-6")
    with FaultServer() as server:
        made = caller(server)
        made.complete(ask(), stage="s")
        assert "for-openai" not in str(server.seen.headers)
        monkeypatch.setenv("CLEW_LLM_HEADERS", "X-Two: for-this")
        caller(server).complete(ask(), stage="s")
        assert server.seen.headers[1]["x-two"] == "for-this"
        assert "for-openai" not in str(server.seen.headers)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = registry.make_llm("openai:any", LlmOptions())
        assert model is not None
        model.complete(ask())
    assert server.seen.headers[2]["authorization"] == "Bearer for-openai-1"
    assert server.seen.headers[2]["x-one"] == "for-openai-5"


def test_a_key_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_LLM_KEY", "sk-secret-key")
    cache = open_cache(tmp_path / "cache.sqlite")
    with FaultServer([error(500), GOOD]) as server:
        chosen = LlmOptions(retries=2)
        model = registry.make_llm(f"{server.url}#any", chosen)
        assert model is not None
        made = ModelCaller(model, chosen, cache=cache, clock=Waits(), chance=Greatest())
        made.structured(ask(schema=SCHEMA), stage="s")
    cache.close()
    assert "secret" not in model.name + repr(made.ledger.rows)
    for file in tmp_path.iterdir():
        assert b"secret" not in file.read_bytes()


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai:", "names no model"),
        ("openai:gpt-x", "OPENAI_API_KEY"),
        ("http://127.0.0.1:1/v1", "names no model"),
        ("http://me:secret@127.0.0.1:1/v1#m", "CLEW_LLM_KEY"),
        ("http:///v1#m", "no host"),
        ("ollama:", "names no model"),
        ("olama:x", "'ollama'"),
    ],
)
def test_a_wrong_name_is_refused_with_a_remedy(spec: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLEW_LLM_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OptionError) as caught:
        registry.make_llm(spec, LlmOptions())
    assert says in str(caught.value)
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


# --- Ollama ---


def ollama(server: FaultServer, monkeypatch: pytest.MonkeyPatch, name: str, **options: Any) -> Any:
    monkeypatch.setenv("OLLAMA_HOST", server.root.removeprefix("http://"))
    return registry.make_llm(f"ollama:{name}", LlmOptions(**options))


def test_ollama_says_which_models_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer(["Hi."], models=["gemma3:4b", "qwen3:latest"]) as server:
        model = ollama(server, monkeypatch, "llama3.2")
        with pytest.raises(ProviderError) as caught:
            model.complete(ask())
        assert "no model 'llama3.2'; you have gemma3:4b, qwen3:latest" in str(caught.value)
        assert "`ollama pull llama3.2`" in str(caught.value)
        assert server.seen.requests == []
        assert ollama(server, monkeypatch, "qwen3").complete(ask()).text == "Hi."
    assert server.seen.requests[0]["model"] == "qwen3"


def test_ollama_that_is_not_running_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server:
        pass
    model = ollama(server, monkeypatch, "gemma3:4b")
    with pytest.raises(ProviderError, match=r"isn't running at http://127\.0\.0\.1:\d+.*`ollama serve`"):
        model.complete(ask())


def test_ollamas_window_is_the_one_it_runs_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_CONTEXT_LENGTH", raising=False)
    shown: dict[str, Any] = {"model_info": {"gemma3.context_length": 131072}}
    with FaultServer(models=["m"], facts={"/api/show": shown}) as server:
        assert ollama(server, monkeypatch, "m").window == 4096
        monkeypatch.setenv("OLLAMA_CONTEXT_LENGTH", "16384")
        assert ollama(server, monkeypatch, "m").window == 16384
        shown["parameters"] = 'stop "x"\nnum_ctx      8192'
        assert ollama(server, monkeypatch, "m").window == 8192
        shown["model_info"]["gemma3.context_length"] = 2048
        assert ollama(server, monkeypatch, "m").window == 2048
        server.facts["/api/ps"] = {"models": [{"name": "m", "context_length": 32768}]}
        assert ollama(server, monkeypatch, "m").window == 32768
        assert ollama(server, monkeypatch, "m", window=1024).window == 1024


@pytest.mark.parametrize(
    ("host", "root"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:1234", "http://box:1234"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("[::1]:5", "http://[::1]:5"),
    ],
)
def test_ollamas_address_is_read_as_ollama_does(host: str, root: str) -> None:
    from clew.llms.ollama import root_of

    assert root_of(host) == root
