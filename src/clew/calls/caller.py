"""The Caller: one language model with what every call needs around it."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

from clew.calls.budget import Amount, Budget, Price
from clew.calls.clock import Chance, Clock, SystemClock, make_chance
from clew.calls.keep import decode_reply, encode_reply, key_of
from clew.calls.ledger import Ledger
from clew.calls.limits import Limits
from clew.calls.parallel import in_parallel
from clew.calls.retry import PATIENCE, SLOW_TRIES, Breaker, pause
from clew.calls.structured import ask_again, need_packages, read_json
from clew.calls.thoughts import Shown, without_thoughts
from clew.errors import OptionError, ProviderBusy, ProviderError, ProviderSlow
from clew.options import LlmOptions
from clew.ports import Cache, ChatModel
from clew.types import ChatReply, ChatRequest, Cost, Usage

MESSAGE_TOKENS = 4  # that a chat format puts around each message, and three before the reply
REPLY_TOKENS = 3
# A stream of more characters than this for each token that was allowed has no end of its own.
CHARS_PER_TOKEN = 16
SPARE_CHARS = 1024


class ModelCaller:
    """A Caller. ``notes`` says what a person should know of the calls so far. Threads may share it."""

    def __init__(
        self,
        model: ChatModel,
        options: LlmOptions | None = None,
        *,
        cache: Cache | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        ledger: Ledger | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        """``budget`` and ``ledger`` may be shared with other callers, ``price`` is the model's. Raises
        OptionError if the budget is money and the model's price isn't known."""
        self.model = model
        self.options = options if options is not None else LlmOptions()
        self.cache = cache
        self._budget = budget if budget is not None else Budget(None)
        self.price = Price(0, 0) if price is None and getattr(model, "free", False) else price
        self._at_once = min(self.options.concurrency, getattr(model, "parallel", self.options.concurrency))
        self.ledger = ledger if ledger is not None else Ledger(cache)
        self._clock: Clock = clock if clock is not None else SystemClock()
        self._chance = chance if chance is not None else make_chance()
        self._stop = Event()
        self._limits = Limits(
            self._at_once,
            self.options.requests_per_minute,
            self.options.tokens_per_minute,
            self._clock,
        )
        self._breaker = Breaker(2 * self._at_once, self._clock)
        if self._budget.unit == "money" and self.price is None:
            raise OptionError(
                f"--budget {self.options.budget}",
                f"what {model.name} costs isn't known",
                f"Add --price '{model.name}=PROMPT/REPLY' (money for a million tokens), or give a budget in "
                "tokens",
            )

    # --- the port ---

    def complete(self, request: ChatRequest, *, stage: str) -> ChatReply:
        """Return the reply, kept or new. Raises BudgetSpent, ProviderError."""
        key = key_of(self.model.name, request)
        kept = self._kept(key, stage)
        if kept is not None:
            return kept
        reply = self._call(request, stage)
        self._keep(key, reply)
        return reply

    def stream(self, request: ChatRequest, *, stage: str) -> Generator[str, None, ChatReply]:
        """Yield the pieces of the reply as they come, and return the whole; a kept one comes as one piece.

        A call that fails before its first piece is made again; one that breaks off later raises
        ProviderError. Raises BudgetSpent.
        """
        key = key_of(self.model.name, request)
        kept = self._kept(key, stage)
        if kept is not None:
            yield kept.text
            return kept
        reply, whole = yield from self._stream(request, stage)
        if whole:
            self._keep(key, reply)
        return reply

    def structured(self, request: ChatRequest, *, stage: str) -> Any:
        """Return the reply's JSON, mended and asked for once more where it must be.

        Kept is the JSON that was good in the end: what failed is tried again by the next run.
        Raises BudgetSpent, ProviderError, and OptionError if a package is missing.
        """
        if request.schema is None:
            raise ValueError("a structured request has a schema")
        need_packages()
        key = key_of(self.model.name, request, "json")
        kept = self._kept(key, stage)
        if kept is not None:
            return json.loads(kept.text)
        reply = self._call(request, stage)
        reading, usage = read_json(reply.text, request.schema), reply.usage
        if reading.faults:
            self._count(stage, asked_again=1)
            reply = self._call(self._again(request, reply, reading.faults), stage)
            reading, usage = read_json(reply.text, request.schema), _sum(usage, reply.usage)
        if reading.faults:
            self._count(stage, failed=1)
            raise ProviderError(
                self.model.name,
                f"its reply doesn't have the form that was asked for, twice ({reading.faults[0]})",
                "Try again, or use a larger model",
            )
        if reading.repaired:
            self._count(stage, repaired=1)
        text = json.dumps(reading.value, ensure_ascii=False)
        self._keep(key, ChatReply(text, usage, reply.finish))
        return reading.value

    def structured_all(
        self, requests: Sequence[ChatRequest], *, stage: str
    ) -> Iterator[tuple[int, Any | ProviderError]]:
        """Yield each request's number with its JSON, or with why there is none, as they come."""
        need_packages()

        def one(request: ChatRequest) -> Any | ProviderError:
            try:
                return self.structured(request, stage=stage)
            except ProviderError as error:
                return error

        yield from in_parallel(one, requests, self._at_once)

    def saved(self, name: str, *, used: int, instead: int) -> None:
        """Record what was done with fewer tokens than the plain way takes."""
        self.ledger.save(name, used, instead)

    def close(self) -> None:
        """End the waiting of calls that are still to be made."""
        self._stop.set()

    # --- kept replies ---

    def _kept(self, key: str, stage: str) -> ChatReply | None:
        found = self.cache.replies([key]).get(key) if self.cache is not None else None
        if found is None:
            return None
        try:
            reply = decode_reply(found)
        except ValueError:
            return None  # damaged, or of a later version: as if it weren't there
        usage = reply.usage
        self._count(
            stage,
            kept=1,
            saved_prompt_tokens=usage.prompt_tokens,
            saved_reply_tokens=usage.reply_tokens,
            saved_money=self._money(usage),
        )
        return reply

    def _keep(self, key: str, reply: ChatReply) -> None:
        if self.cache is not None:
            self.cache.put_replies({key: encode_reply(reply)})

    # --- calls ---

    def _call(self, request: ChatRequest, stage: str) -> ChatReply:
        """Make a call, again where it fails for a while. Raises BudgetSpent, ProviderError."""
        estimate = self._estimate(request)
        attempt = 0
        while True:
            try:
                with self._turn(estimate) as used:
                    return self._once(request, stage, estimate, used)
            except ProviderBusy as error:
                self._rest(error, attempt)
                attempt += 1

    def _again(self, request: ChatRequest, reply: ChatReply, faults: tuple[str, ...]) -> ChatRequest:
        """Return the request that asks again; without the reply where it doesn't fit the model's window."""
        again = ask_again(request, reply, faults)
        most, window = self._estimate(again), self.model.window
        if window and most.prompt_tokens + most.reply_tokens > window:
            return ask_again(request, reply, faults, shown=False)
        return again

    def _once(self, request: ChatRequest, stage: str, estimate: Usage, used: list[Usage]) -> ChatReply:
        begin = self._clock.now()
        try:
            reply = self.model.complete(request)
        except ProviderError as error:
            self._spend_failed(error, stage, estimate, used, begin)
            raise
        used.append(reply.usage)
        reply = self._answered(reply, stage, begin)
        _refuse_nothing(self.model.name, request, reply)
        return reply

    def _stream(self, request: ChatRequest, stage: str) -> Generator[str, None, tuple[ChatReply, bool]]:
        """Stream a call; whether the reply is whole, rather than cut here, comes with it."""
        estimate = self._estimate(request)
        attempt = 0
        while True:
            begun: list[str] = []
            try:
                with self._turn(estimate) as used:
                    return (yield from self._stream_once(request, stage, estimate, used, begun))
            except ProviderBusy as error:
                if begun:
                    raise ProviderError(
                        error.thing,
                        f"{error.reason}, in the middle of the reply",
                        error.remedy or "Ask again",
                    ) from error
                self._rest(error, attempt)
                attempt += 1

    def _stream_once(
        self, request: ChatRequest, stage: str, estimate: Usage, used: list[Usage], begun: list[str]
    ) -> Generator[str, None, tuple[ChatReply, bool]]:
        begin = self._clock.now()
        most = request.max_tokens * CHARS_PER_TOKEN + SPARE_CHARS
        pieces = self.model.stream(request)
        answer, reply, length = Shown(), None, 0
        try:
            while reply is None:
                try:
                    piece = next(pieces)
                except StopIteration as end:
                    reply = end.value
                    break
                begun.append(piece)
                length += len(piece)
                shown = answer.show(piece)
                if shown:
                    yield shown
                if length > most or self._clock.now() - begin > self.options.timeout:
                    break
        except ProviderError as error:
            self._spend_failed(error, stage, self._so_far(estimate, begun), used, begin)
            raise
        except GeneratorExit:  # nobody wants the rest
            reply = ChatReply("".join(begun), self._so_far(estimate, begun), "length")
            used.append(reply.usage)
            self._answered(reply, stage, begin)
            raise
        finally:
            pieces.close()
        rest = answer.end()
        if rest:
            yield rest
        whole = reply is not None
        if reply is None:
            reply = ChatReply("".join(begun), self._so_far(estimate, begun), "length")
        used.append(reply.usage)
        reply = self._answered(reply, stage, begin)
        _refuse_nothing(self.model.name, request, reply)
        return reply, whole

    @contextmanager
    def _turn(self, estimate: Usage) -> Iterator[list[Usage]]:
        """Hold the budget and a place among the calls; give a list for what is used."""
        self._breaker.check()
        tokens = estimate.prompt_tokens + estimate.reply_tokens
        with self._budget.hold(estimate, self.price) as used:
            try:
                with self._limits.turn(tokens, self._stop):
                    if self._stop.is_set():
                        raise ProviderError(self.model.name, "the run was stopped")
                    yield used
            finally:
                self._limits.settle(tokens, sum(one.prompt_tokens + one.reply_tokens for one in used))

    def _rest(self, error: ProviderBusy, attempt: int) -> None:
        """Wait before the next attempt. Raises ProviderError if there shall be none."""
        retries = self.options.retries
        if isinstance(error, ProviderSlow):
            retries = min(retries, SLOW_TRIES - 1)
        reason = error.reason
        if attempt >= retries:
            reason += f", {attempt + 1} times" if attempt else ""
        elif error.after is not None and error.after > PATIENCE:
            reason += f"; it asks to wait {error.after:,.0f} seconds"
        else:
            seconds = pause(attempt, error.after, self._chance)
            if error.after is not None:
                self._limits.pause(seconds)
            self._clock.wait(seconds, self._stop)
            return
        told = ProviderError(error.thing, reason, error.remedy)
        self._breaker.failed(told, in_vain=True)
        raise told from error

    # --- what it costs ---

    def _estimate(self, request: ChatRequest) -> Usage:
        """Return the most that a call may take."""
        count = self.model.count
        asked = sum(count(message.text) + MESSAGE_TOKENS for message in request.messages) + REPLY_TOKENS
        if request.schema is not None:  # most servers put it into the prompt
            asked += count(json.dumps(request.schema))
        return Usage(asked, request.max_tokens, exact=False)

    def _so_far(self, estimate: Usage, begun: Sequence[str]) -> Usage:
        return Usage(estimate.prompt_tokens, self.model.count("".join(begun)), exact=False)

    def _answered(self, reply: ChatReply, stage: str, begin: float) -> ChatReply:
        """Count a call that went well, and return its reply without thoughts."""
        self._breaker.went_well()
        self._count(
            stage,
            calls=1,
            prompt_tokens=reply.usage.prompt_tokens,
            reply_tokens=reply.usage.reply_tokens,
            seconds=self._clock.now() - begin,
            money=self._money(reply.usage),
            unpriced=int(self.price is None),
            estimated=int(not reply.usage.exact),
            cut=int(reply.finish == "length"),
        )
        return replace(reply, text=without_thoughts(reply.text))

    def _spend_failed(
        self, error: ProviderError, stage: str, estimate: Usage, used: list[Usage], begin: float
    ) -> None:
        """Count a call that failed: its prompt too, where the model may have worked on it."""
        spent = Usage(0, 0, exact=False)
        if isinstance(error, ProviderBusy) and error.sent:
            spent = Usage(estimate.prompt_tokens, estimate.reply_tokens, exact=False)
        used.append(spent)
        self._breaker.failed(error, in_vain=False)
        self._count(
            stage,
            failed=1,
            prompt_tokens=spent.prompt_tokens,
            reply_tokens=spent.reply_tokens,
            seconds=self._clock.now() - begin,
            money=self._money(spent),
        )

    def _money(self, usage: Usage) -> float:
        return self.price.of(usage) if self.price is not None else 0.0

    def _count(self, stage: str, **what: Any) -> None:
        self.ledger.add(Cost(stage, self.model.name, **what))


def kept_only(caller: ModelCaller) -> ModelCaller:
    """Return a caller that gives what replies were kept of the same model, and calls nobody: BudgetSpent is
    its answer to all else. What it gives is in no ledger."""
    nothing = Budget(Amount(0, "tokens"))
    return ModelCaller(caller.model, caller.options, cache=caller.cache, budget=nothing, ledger=Ledger())


def _refuse_nothing(name: str, request: ChatRequest, reply: ChatReply) -> None:
    """Raise if a reply holds nothing: for good where the model has thought it all away."""
    if reply.text.strip() or reply.finish == "refused":
        return
    if reply.finish == "length":
        raise ProviderError(
            name,
            f"it used all of its {request.max_tokens:,} tokens before it answered",
            "Use a model that thinks less",
        )
    raise ProviderBusy(name, "its reply was empty", "Try again, or use another model")


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(a.prompt_tokens + b.prompt_tokens, a.reply_tokens + b.reply_tokens, a.exact and b.exact)
