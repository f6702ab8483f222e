"""Limits on calls in a minute, with time that passes only by waiting."""

from __future__ import annotations

from itertools import pairwise
from threading import Event

import pytest
from fake_clock import FakeClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.calls.caller import ModelCaller
from clew.calls.limits import Limits, TokenBucket
from clew.errors import ProviderBusy
from clew.options import LlmOptions
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatRequest


def ask(text: str) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), 20)


@pytest.mark.parametrize("limit", ["requests_per_minute", "tokens_per_minute"])
def test_no_minute_holds_more_than_allowed(limit: str) -> None:
    clock, times, tokens = FakeClock(), [], []

    def script(request: ChatRequest) -> str:
        times.append(clock.now())
        tokens.append(30)
        return "x" * 80

    options = LlmOptions(**{limit: 60 if limit == "requests_per_minute" else 3000})
    made = ModelCaller(ScriptedChatModel(script), options, clock=clock)
    for n in range(300):
        made.complete(ask(f"{n:>40}"), stage="s")
    spent = [1] * len(times) if limit == "requests_per_minute" else tokens
    most = 60 if limit == "requests_per_minute" else 3000
    for begin in times:
        within = sum(cost for at, cost in zip(times, spent, strict=True) if begin <= at < begin + 60)
        assert within <= 1.1 * most + max(spent)
    assert sum(spent) / (times[-1] - times[0]) * 60 > 0.85 * most  # nor does it wait without need


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the machine may be busy
@given(
    st.integers(1, 10_000),
    st.lists(st.tuples(st.floats(0, 30), st.floats(0, 5000)), min_size=1, max_size=40),
)
def test_a_bucket_never_lets_more_through_than_its_rate_and_one_burst(
    per_minute: int, steps: list[tuple[float, float]]
) -> None:
    clock = FakeClock()
    bucket = TokenBucket(per_minute, clock)
    most = max(1.0, per_minute * 0.1)
    used = []
    for pause, amount in steps:
        clock.wait(pause, Event())
        wait = bucket.take(amount)
        assert wait >= 0
        used.append((clock.now() + wait, amount))
    for (a, _), (b, _) in pairwise(used):
        assert b >= a - 1e-6  # first come, first served
    begin = used[0][0]
    for at, _ in used:
        # What has gone out before this one fits the rate, the burst, and one that is larger than the bucket.
        before = sum(amount for when, amount in used if when < at)
        large = max(amount for _, amount in used)
        assert before <= most + large + (at - begin) * per_minute / 60 + 1e-3 * (1 + before)


def test_no_limit_never_waits() -> None:
    bucket = TokenBucket(0, FakeClock())
    assert [bucket.take(10**9) for _ in range(3)] == [0, 0, 0]


def test_what_was_not_used_is_given_back() -> None:
    clock = FakeClock()
    bucket = TokenBucket(600, clock)
    bucket.take(60)
    bucket.give(50)
    assert bucket.take(50) == 0
    assert bucket.take(10) == pytest.approx(1.0)


def test_a_pause_that_a_server_asks_for_holds_for_all_calls() -> None:
    clock = FakeClock()
    limits = Limits(4, 0, 0, clock)
    limits.pause(30)
    with limits.turn(1, Event()):
        assert clock.now() >= 30
    model = ScriptedChatModel([ProviderBusy("m", "slow down", after=20.0), "a", "b"])
    made = ModelCaller(model, LlmOptions(), clock=FakeClock())
    assert made.complete(ask("1"), stage="s").text == "a"
