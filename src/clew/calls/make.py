"""Callers from options."""

from __future__ import annotations

from dataclasses import dataclass

from clew import registry
from clew.calls.budget import Budget, parse_budget, parse_prices, price_of
from clew.calls.caller import ModelCaller
from clew.calls.ledger import Ledger
from clew.options import LlmOptions
from clew.ports import Cache, ChatModel


@dataclass(frozen=True, slots=True)
class Callers:
    """The model that does the work, and the one that rates what is relevant (the same, unless another was
    named). They share a budget and a ledger."""

    main: ModelCaller
    rating: ModelCaller
    ledger: Ledger

    def close(self) -> None:
        """End the waiting of calls that are still to be made."""
        self.main.close()
        self.rating.close()


def make_callers(
    options: LlmOptions, cache: Cache | None = None, *, model: ChatModel | None = None
) -> Callers | None:
    """Return the callers that the options name, or None for no model.

    ``model`` takes the place of the one named. Raises OptionError: an unknown name, a missing package,
    a wrong price or budget.
    """
    prices, amount = parse_prices(options.price), parse_budget(options.budget)
    if model is None:
        model = registry.make_llm(options.model, options)
    if model is None:
        return None
    budget, ledger = Budget(amount), Ledger(cache)
    rater = registry.make_llm(options.rating_model, options) if options.rating_model else None

    def caller(model: ChatModel, spec: str) -> ModelCaller:
        price = price_of(prices, model.name, spec)
        return ModelCaller(model, options, cache=cache, budget=budget, price=price, ledger=ledger)

    main = caller(model, options.model)
    rating = caller(rater, options.rating_model) if rater is not None else main
    return Callers(main, rating, ledger)
