"""Prices, and a budget that is asked before each call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import floor, log10
from threading import Condition
from typing import Literal

from clew.errors import BudgetSpent, OptionError
from clew.types import Usage

MILLION = 1_000_000
_TOKENS = re.compile(r"(\d+(?:[.,]\d+)?|\.\d+)\s*([kKmM]?)\s*[tT]okens?")
_MONEY = re.compile(r"[$€£¥]?\s*(\d+(?:\.\d+)?|\.\d+)\s*[$€£¥]?")
PATIENCE = 600.0  # seconds to wait for calls under way; one that its caller has forgotten never ends
_TIMES = {"": 1, "k": 1000, "m": MILLION}
MONEY_REMEDY = "Write money (2.00) or tokens (200k tokens)"
PRICE_REMEDY = "Write MODEL=0.25/2.00: for a million tokens of prompt, and of reply"


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens of prompt and of reply."""

    prompt: float
    reply: float

    def of(self, usage: Usage) -> float:
        """Return what a call's tokens cost."""
        return (usage.prompt_tokens * self.prompt + usage.reply_tokens * self.reply) / MILLION


def parse_prices(given: Sequence[str]) -> dict[str, Price]:
    """Return prices by model from ``MODEL=PROMPT/REPLY``. Raises OptionError."""
    found = {}
    for text in given:
        model, equals, price = text.rpartition("=")
        prompt, slash, reply = price.partition("/")
        try:
            made = Price(float(prompt), float(reply if slash else prompt))
        except ValueError:
            made = Price(-1, -1)
        if not equals or not model.strip() or not (0 <= made.prompt < 1e9 and 0 <= made.reply < 1e9):
            raise OptionError("--price", f"{text!r} is no price", PRICE_REMEDY)
        found[model.strip()] = made
    return found


def price_of(prices: Mapping[str, Price], *names: str) -> Price | None:
    """Return the price of a model that goes by one of ``names``, whole or without its provider."""
    for name in names:
        for known in (name, name.partition(":")[2], name.rpartition("#")[2]):
            if known in prices:
                return prices[known]
    return None


@dataclass(frozen=True, slots=True)
class Amount:
    """A budget as it was given."""

    most: float
    unit: Literal["money", "tokens"]

    def show(self, amount: float) -> str:
        """Return an amount as text."""
        return f"{amount:,.0f} tokens" if self.unit == "tokens" else show_money(amount)


def show_money(amount: float) -> str:
    """Return money with two digits, or as many as show that it isn't nothing."""
    digits = 2 if amount >= 0.1 or not amount else 1 - floor(log10(amount))
    return f"{amount:,.{digits}f}"


def parse_budget(text: str) -> Amount | None:
    """Return the budget, or None for no limit. Raises OptionError."""
    text = text.strip()
    if not text:
        return None
    tokens = _TOKENS.fullmatch(text)
    if tokens is not None:
        return Amount(float(tokens[1].replace(",", ".")) * _TIMES[tokens[2].lower()], "tokens")
    money = _MONEY.fullmatch(text)
    if money is None:
        raise OptionError("--budget", f"{text!r} is no amount", MONEY_REMEDY)
    return Amount(float(money[1]), "money")


class Budget:
    """What may still be spent, by all models together. Threads may share it.

    A call holds its worst case until it is over, so the sum never goes over the budget as long as models
    keep to ``max_tokens``. A call that fits only if those under way take less than their worst case waits
    for them.
    """

    def __init__(self, amount: Amount | None) -> None:
        self._amount = amount
        self._spent = 0.0
        self._held = 0.0
        self._changed = Condition()

    @property
    def unit(self) -> str:
        """``money``, ``tokens``, or empty where there is no limit."""
        return self._amount.unit if self._amount is not None else ""

    @contextmanager
    def hold(self, estimate: Usage, price: Price | None) -> Iterator[list[Usage]]:
        """Hold a call's worst case; what the caller appends to the list is what is spent.

        Raises BudgetSpent if it doesn't fit.
        """
        used: list[Usage] = []
        if self._amount is None:
            yield used
            return
        worst = self._of(estimate, price)
        self._reserve(worst, self._amount)
        try:
            yield used
        finally:
            with self._changed:
                self._held -= worst
                self._spent += sum(self._of(one, price) for one in used)
                self._changed.notify_all()

    def _of(self, usage: Usage, price: Price | None) -> float:
        if self.unit == "tokens":
            return float(usage.prompt_tokens + usage.reply_tokens)
        return price.of(usage) if price is not None else 0.0

    def _reserve(self, worst: float, amount: Amount) -> None:
        with self._changed:
            while self._spent + self._held + worst > amount.most:
                alone = self._spent + worst > amount.most
                if alone or not self._held or not self._changed.wait(PATIENCE):
                    left = max(0.0, amount.most - self._spent)
                    raise BudgetSpent(
                        "budget",
                        f"{amount.show(self._spent)} of {amount.show(amount.most)} are spent, and the next "
                        f"call may take {amount.show(worst)}, where {amount.show(left)} are left",
                        "Replies so far are kept: the same command with a larger --budget goes on from here",
                    )
            self._held += worst
