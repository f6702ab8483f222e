"""What is around every call: kept replies, retries, the budget, JSON, the ledger."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from fake_clock import FakeClock, Greatest

from clew.calls.budget import Budget, Price, parse_budget
from clew.calls.caller import ModelCaller
from clew.errors import BudgetSpent, OptionError, ProviderBusy, ProviderError
from clew.options import LlmOptions
from clew.stores.cache import SqliteCache, open_cache
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatReply, ChatRequest, Cost, Usage

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "score": {"type": "number"}},
    "required": ["name", "score"],
    "additionalProperties": False,
}
GOOD = '{"name": "Ada", "score": 0.5}'


def ask(text: str = "Who?", **more: Any) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), **{"max_tokens": 50, **more})


def caller(model: ScriptedChatModel, cache: SqliteCache | None = None, **more: Any) -> ModelCaller:
    options = LlmOptions(**more.pop("options", {}))
    more.setdefault("clock", FakeClock())
    return ModelCaller(model, options, cache=cache, chance=Greatest(), **more)


def row(made: ModelCaller, stage: str = "s") -> Cost:
    return next(one for one in made.ledger.rows if one.stage == stage)


def ask_on(made: ModelCaller) -> None:
    for number in range(100):
        made.complete(ask(f"question {number}"), stage="s")


# --- kept replies ---


def test_a_repeat_is_free_in_this_run_and_the_next(cache: SqliteCache, tmp_path: Path) -> None:
    model = ScriptedChatModel(["one", "two"])
    first = caller(model, cache)
    assert first.complete(ask(), stage="s").text == "one"
    assert first.complete(ask(), stage="s").text == "one"
    assert first.complete(ask("Else?"), stage="s").text == "two"
    cache.close()
    again = caller(model, open_cache(tmp_path / "cache.sqlite"))
    assert again.complete(ask(), stage="s").text == "one"
    assert len(model.requests) == 2
    assert row(again).kept == 1
    assert row(again).calls == 0
    assert (row(again).saved_prompt_tokens, row(again).saved_reply_tokens) == (1, 1)


def test_another_model_or_request_has_a_reply_of_its_own(cache: SqliteCache) -> None:
    different = [
        (ScriptedChatModel(["a"], name="x"), ask()),
        (ScriptedChatModel(["b"], name="y"), ask()),
        (ScriptedChatModel(["c"], name="x"), ask("Who!")),
        (ScriptedChatModel(["d"], name="x"), ask(max_tokens=51)),
        (ScriptedChatModel(["e"], name="x"), ask(temperature=0.5)),
        (ScriptedChatModel(["f"], name="x"), ask(schema=SCHEMA)),
        (ScriptedChatModel(["g"], name="x"), ChatRequest((ChatMessage("system", "Who?"),), 50)),
    ]
    texts = [caller(model, cache).complete(request, stage="s").text for model, request in different]
    assert texts == list("abcdefg")


def test_a_cache_that_cannot_be_used_only_forgets(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    lost = open_cache(tmp_path / "no folder" / "cache.sqlite")
    assert lost.problem
    made = caller(ScriptedChatModel(["one", "two"]), lost)
    assert [made.complete(ask(), stage="s").text for _ in range(2)] == ["one", "two"]


def test_a_cache_that_another_program_holds_is_done_without(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    open_cache(file).close()
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    shut = open_cache(file, new_run=False)
    made = caller(ScriptedChatModel(["one", "two"]), shut)
    assert [made.complete(ask(), stage="s").text for _ in range(2)] == ["one", "two"]
    assert shut.problem
    assert time.monotonic() - begin < 10
    holder.close()


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """The process is ended without a chance to say anything; what had come is there."""
    code = f"""
import os, sys
from pathlib import Path
from clew.calls.caller import ModelCaller
from clew.options import LlmOptions
from clew.stores.cache import open_cache
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatRequest

calls = 0
def script(request):
    global calls
    calls += 1
    if calls == 8:
        os._exit(9)
    return {GOOD!r}

cache = open_cache(Path({str(tmp_path / "cache.sqlite")!r}))
made = ModelCaller(ScriptedChatModel(script), LlmOptions(concurrency=1), cache=cache)
for n in range(20):
    made.structured(ChatRequest((ChatMessage("user", f"q {{n}}"),), 50, 0.0, {SCHEMA!r}), stage="s")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 9
    cache = open_cache(tmp_path / "cache.sqlite")
    model = ScriptedChatModel(lambda request: GOOD)
    made = caller(model, cache)
    found = dict(made.structured_all([ask(f"q {n}", schema=SCHEMA) for n in range(20)], stage="s"))
    assert set(map(str, found.values())) == {str(json.loads(GOOD))}
    assert len(model.requests) == 13
    assert sum(one.calls for one in cache.costs()) == 20
    cache.close()


def test_what_reads_replies_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.registry.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"clew\[llm\]"):
        caller(ScriptedChatModel([GOOD])).structured(ask(schema=SCHEMA), stage="s")


def test_lone_surrogates_in_a_prompt_and_a_reply_do_no_harm(cache: SqliteCache) -> None:
    made = caller(ScriptedChatModel(["half \ud83d of it"]), cache)
    made.complete(ask("note \udcff"), stage="s")
    assert "half" in made.complete(ask("note \udcff"), stage="s").text


# --- retries ---


def test_a_call_that_fails_for_a_while_is_made_again_with_growing_pauses() -> None:
    clock = FakeClock()
    model = ScriptedChatModel([ProviderBusy("m", "overloaded")] * 3 + ["at last"])
    made = caller(model, clock=clock)
    assert made.complete(ask(), stage="s").text == "at last"
    assert clock.waits == [0.5, 1.0, 2.0]
    assert (row(made).calls, row(made).failed) == (1, 3)


def test_what_the_server_asks_for_is_waited() -> None:
    clock = FakeClock()
    made = caller(ScriptedChatModel([ProviderBusy("m", "slow down", after=7.0), "ok"]), clock=clock)
    made.complete(ask(), stage="s")
    assert sum(clock.waits) == pytest.approx(7.5)


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    clock = FakeClock()
    made = caller(ScriptedChatModel([ProviderBusy("m", "slow down", after=3600.0)]), clock=clock)
    with pytest.raises(ProviderError, match="3,600 seconds"):
        made.complete(ask(), stage="s")
    assert clock.waits == []


def test_it_gives_up_after_the_retries_that_are_allowed_and_says_how_often_it_tried() -> None:
    model = ScriptedChatModel([ProviderBusy("m", "overloaded")] * 3)
    with pytest.raises(ProviderError, match="overloaded, 3 times") as caught:
        caller(model, options={"retries": 2}).complete(ask(), stage="s")
    assert not isinstance(caught.value, ProviderBusy)


def test_a_failure_that_will_stay_is_not_tried_again() -> None:
    model = ScriptedChatModel([ProviderError("m", "no such model")])
    with pytest.raises(ProviderError, match="no such model"):
        caller(model).complete(ask(), stage="s")
    assert len(model.requests) == 1


def test_an_empty_reply_is_asked_for_again_and_never_kept(cache: SqliteCache) -> None:
    model = ScriptedChatModel(["", "  \n", "<think>hm</think>", "something"])
    made = caller(model, cache)
    assert made.complete(ask(), stage="s").text == "something"
    assert made.complete(ask(), stage="s").text == "something"
    assert len(model.requests) == 4


def test_a_model_that_thinks_until_it_is_cut_is_told() -> None:
    with pytest.raises(ProviderError, match="50 tokens before it answered"):
        caller(ScriptedChatModel(["<think>" + "so " * 500])).complete(ask(), stage="s")


# --- the budget ---


def test_a_budget_of_tokens_stops_before_it_is_overspent() -> None:
    model = ScriptedChatModel(lambda request: "x" * 100)
    made = caller(model, budget=Budget(parse_budget("300 tokens")))
    with pytest.raises(BudgetSpent, match="of 300 tokens") as caught:
        ask_on(made)
    assert "left" in str(caught.value)
    spent = row(made).prompt_tokens + row(made).reply_tokens
    assert 200 < spent <= 300


def test_a_budget_of_money_needs_a_price_and_stops_in_time(cache: SqliteCache) -> None:
    model = ScriptedChatModel(lambda request: "x" * 100)
    budget = Budget(parse_budget("0.001"))
    with pytest.raises(OptionError, match="--price"):
        caller(model, budget=budget)
    price = Price(1.0, 10.0)
    made = caller(model, cache, budget=budget, price=price)
    with pytest.raises(BudgetSpent):
        ask_on(made)
    assert 0 < row(made).money <= 0.001
    assert row(made).money == pytest.approx(price.of(Usage(row(made).prompt_tokens, row(made).reply_tokens)))
    before = len(model.requests)
    assert made.complete(ask("question 0"), stage="s").text  # what is kept costs nothing
    assert len(model.requests) == before


def test_calls_at_once_keep_to_the_budget_and_the_rest_is_answered_with_it() -> None:
    model = ScriptedChatModel(lambda request: GOOD)
    made = caller(model, budget=Budget(parse_budget("2k tokens")), options={"concurrency": 8})
    requests = [ask(f"q {n}", schema=SCHEMA) for n in range(200)]
    results = dict(made.structured_all(requests, stage="s"))
    assert sorted(results) == list(range(200))
    good = [one for one in results.values() if one == json.loads(GOOD)]
    assert all(isinstance(one, BudgetSpent) for one in results.values() if one not in good)
    spent = row(made).prompt_tokens + row(made).reply_tokens
    assert 1800 < spent <= 2000
    assert len(good) == row(made).calls


@pytest.mark.parametrize("wrong", ["lots", "-1", "2.00 tokens tokens", "1e5", "k tokens", "nan"])
def test_an_amount_that_makes_no_sense_is_refused(wrong: str) -> None:
    with pytest.raises(OptionError, match="--budget"):
        parse_budget(wrong)


# --- JSON ---


def test_a_wrong_form_is_asked_for_again_with_what_is_wrong(cache: SqliteCache) -> None:
    model = ScriptedChatModel(['{"name": 3}', GOOD])
    made = caller(model, cache)
    assert made.structured(ask(schema=SCHEMA), stage="s") == json.loads(GOOD)
    told = model.requests[1].messages[-1].text
    assert "'score' is a required property" in told
    assert "3 is not of type 'string'" in told
    assert model.requests[1].messages[-2].text == '{"name": 3}'
    assert made.structured(ask(schema=SCHEMA), stage="s") == json.loads(GOOD)
    assert len(model.requests) == 2
    assert row(made).asked_again == 1


def test_a_small_window_is_not_filled_with_the_reply_that_was_wrong() -> None:
    model = ScriptedChatModel(["word " * 300, GOOD], window=1024)
    made = caller(model)
    request = ask("x" * 2000, schema=SCHEMA, max_tokens=400)
    assert made.structured(request, stage="s") == json.loads(GOOD)
    second = model.requests[1]
    assert [one.role for one in second.messages] == ["user", "assistant", "user"]
    assert sum(model.count(one.text) for one in second.messages) + 400 < 1024


def test_what_stays_wrong_is_an_error_and_is_tried_again_by_the_next_run(cache: SqliteCache) -> None:
    model = ScriptedChatModel(["no", "still no", GOOD])
    made = caller(model, cache)
    with pytest.raises(ProviderError, match="twice"):
        made.structured(ask(schema=SCHEMA), stage="s")
    assert made.structured(ask(schema=SCHEMA), stage="s") == json.loads(GOOD)


def test_one_that_fails_does_not_stop_the_others() -> None:
    def script(request: ChatRequest) -> str:
        return "never JSON" if "bad" in request.messages[0].text else GOOD

    made = caller(ScriptedChatModel(script))
    requests = [ask("bad" if n == 3 else f"good {n}", schema=SCHEMA) for n in range(10)]
    results = dict(made.structured_all(requests, stage="s"))
    assert isinstance(results.pop(3), ProviderError)
    assert set(map(str, results.values())) == {str(json.loads(GOOD))}


def test_no_more_calls_than_allowed_run_at_once() -> None:
    now, most, lock = 0, 0, Lock()

    def script(request: ChatRequest) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= 1
        return GOOD

    made = caller(ScriptedChatModel(script), options={"concurrency": 3})
    list(made.structured_all([ask(f"{n}", schema=SCHEMA) for n in range(20)], stage="s"))
    assert most == 3


def test_a_model_that_takes_one_call_at_a_time_gets_one_and_a_free_one_fits_any_budget() -> None:
    now, most, lock = 0, 0, Lock()

    class Alone(ScriptedChatModel):
        parallel = 1
        free = True

    def script(request: ChatRequest) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1
        return GOOD

    made = caller(Alone(script), options={"concurrency": 8}, budget=Budget(parse_budget("0.01")))
    list(made.structured_all([ask(f"{n}", schema=SCHEMA) for n in range(20)], stage="s"))
    assert most == 1
    assert (row(made).calls, row(made).money, row(made).unpriced) == (20, 0, 0)


# --- streams ---


def drain(stream: Any) -> tuple[list[str], ChatReply]:
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


def test_a_stream_comes_in_pieces_and_when_kept_as_one(cache: SqliteCache) -> None:
    made = caller(ScriptedChatModel(["a reply in pieces"]), cache)
    pieces, reply = drain(made.stream(ask(), stage="s"))
    assert len(pieces) > 2
    assert "".join(pieces) == reply.text == "a reply in pieces"
    assert drain(made.stream(ask(), stage="s"))[0] == ["a reply in pieces"]
    assert made.complete(ask(), stage="other").text == "a reply in pieces"
    assert (row(made).calls, row(made).kept) == (1, 1)


def test_thoughts_are_not_shown() -> None:
    made = caller(ScriptedChatModel(["<think>let me see</think>\n\nThe answer."]))
    pieces, reply = drain(made.stream(ask(), stage="s"))
    assert "".join(pieces) == reply.text == "The answer."


class Breaking(ScriptedChatModel):
    """Breaks off after its first piece, so often."""

    def __init__(self, times: int, after: int) -> None:
        super().__init__(lambda request: "a reply in pieces")
        self.times, self.after = times, after

    def stream(self, request: ChatRequest) -> Any:
        for number, piece in enumerate(super().complete(request).text.split()):
            if self.times and number == self.after:
                self.times -= 1
                raise ProviderBusy("m", "the connection was lost", sent=True)
            yield piece + " "
        return ChatReply("a reply in pieces", Usage(1, 4))


def test_a_stream_that_breaks_before_its_first_piece_is_begun_again() -> None:
    assert drain(caller(Breaking(2, 0)).stream(ask(), stage="s"))[1].text == "a reply in pieces"


def test_a_stream_that_breaks_in_the_middle_is_an_error_and_not_kept(cache: SqliteCache) -> None:
    made = caller(Breaking(1, 2), cache)
    with pytest.raises(ProviderError, match="in the middle of the reply"):
        drain(made.stream(ask(), stage="s"))
    assert drain(made.stream(ask(), stage="s"))[1].text == "a reply in pieces"


def test_a_stream_that_nobody_reads_on_is_counted(cache: SqliteCache) -> None:
    made = caller(ScriptedChatModel(["a reply in pieces"] * 2), cache)
    stream = made.stream(ask(), stage="s")
    next(stream)
    stream.close()
    assert row(made).reply_tokens == 1
    assert drain(made.stream(ask(), stage="s"))[1].text == "a reply in pieces"


def test_a_stream_without_an_end_is_cut() -> None:
    class Endless(ScriptedChatModel):
        def stream(self, request: ChatRequest) -> Any:
            while True:
                yield "and so on "

    made = caller(Endless([]))
    pieces, reply = drain(made.stream(ask(), stage="s"))
    assert reply.finish == "length"
    assert len("".join(pieces)) < 3000
    assert row(made).cut == 1


# --- the ledger ---


def test_costs_outlive_the_run_and_add_up(cache: SqliteCache, tmp_path: Path) -> None:
    made = caller(ScriptedChatModel(["one", "two", "three"]), cache, price=Price(1, 2))
    made.complete(ask("1"), stage="a")
    made.complete(ask("2"), stage="b")
    cache.close()
    later = open_cache(tmp_path / "cache.sqlite")
    more = caller(ScriptedChatModel(["three"]), later, price=Price(1, 2))
    more.complete(ask("3"), stage="b")
    more.saved("reports", used=10, instead=100)
    more.saved("reports", used=20, instead=100)
    rows = {one.stage: one for one in later.costs()}
    assert (rows["a"].calls, rows["b"].calls) == (1, 2)
    both = Usage(rows["b"].prompt_tokens, rows["b"].reply_tokens)
    assert rows["b"].money == pytest.approx(Price(1, 2).of(both))
    assert [(one.name, one.times, one.used, one.instead) for one in later.savings()] == [
        ("reports", 2, 30, 200)
    ]
    later.close()
