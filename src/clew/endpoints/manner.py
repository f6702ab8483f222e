"""How a server wants to be asked. What it has refused once it isn't asked again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.endpoints.wire import FORMS, Form
from clew.prompts.shape import Schema, unbounded

OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class Manner:
    """How JSON is asked for, what the reply's greatest length is called, whether the server takes a
    temperature, and whether it tells the tokens of a stream."""

    form: Form = "bounded"
    limit: str = OLD_LIMIT
    warm: bool = True
    tells_usage: bool = True
    turned: bool = False  # the limit's other name has been tried

    def after(self, refusal: str, *, schema: Schema | None, streams: bool) -> Manner | None:
        """Return the next manner to try after what a server said, or None if there is no other."""
        said = refusal.lower()
        if OLD_LIMIT in said or NEW_LIMIT in said:
            other = OLD_LIMIT if self.limit == NEW_LIMIT else NEW_LIMIT
            if not self.turned:
                return replace(self, limit=other, turned=True)
        if "temperature" in said and self.warm:
            return replace(self, warm=False)
        if streams and "stream_options" in said and self.tells_usage:
            return replace(self, tells_usage=False)
        if schema is not None and self.form != FORMS[-1]:
            step = 2 if self.form == "bounded" and unbounded(schema) == schema else 1
            return replace(self, form=FORMS[FORMS.index(self.form) + step])
        return None
