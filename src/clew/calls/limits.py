"""How many calls may go out: at once, in a minute, and after a server has asked for a pause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Event, Lock

from clew.calls.clock import Clock

# Of a minute's allowance so much may be used at one moment. Providers count in windows shorter than a
# minute; a bucket that held a whole minute would let twice the allowance out in the first one.
BURST = 0.1


class TokenBucket:
    """An allowance of so much ``per_minute`` that fills up steadily; 0 is no limit.

    Taking never fails: it says how long to wait. Whoever takes more than the bucket can hold waits until it
    is full, and those who come next wait for the debt.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._rate = per_minute / 60
        self._most = max(1.0, per_minute * BURST)
        self._level = self._most
        self._clock = clock
        self._at = clock.now()
        self._lock = Lock()

    def take(self, amount: float) -> float:
        """Take ``amount`` and return the seconds to wait before using it."""
        if not self._rate:
            return 0.0
        with self._lock:
            self._fill()
            wait = max(0.0, (min(amount, self._most) - self._level) / self._rate)
            self._level -= amount
            return wait

    def give(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount is what was used beyond it."""
        if self._rate:
            with self._lock:
                self._fill()
                self._level = min(self._most, self._level + amount)

    def _fill(self) -> None:
        now = self._clock.now()
        self._level = min(self._most, self._level + (now - self._at) * self._rate)
        self._at = now


class Limits:
    """All limits on calls to one model. Threads may share it."""

    def __init__(self, concurrency: int, requests: int, tokens: int, clock: Clock) -> None:
        self._slots = BoundedSemaphore(concurrency)
        self._requests = TokenBucket(requests, clock)
        self._tokens = TokenBucket(tokens, clock)
        self._clock = clock
        self._lock = Lock()
        self._closed_until = clock.now()

    @contextmanager
    def turn(self, tokens: int, stop: Event) -> Iterator[None]:
        """Wait until a call of so many tokens may go out, and hold its place until it is over."""
        wait = max(self._requests.take(1), self._tokens.take(tokens))
        self._clock.wait(wait, stop)
        self._rest(stop)
        with self._slots:
            yield

    def pause(self, seconds: float) -> None:
        """Let no call out for so long: the server has asked for it."""
        with self._lock:
            self._closed_until = max(self._closed_until, self._clock.now() + seconds)

    def settle(self, estimated: int, used: int) -> None:
        """Correct what was taken for a call by what it used."""
        self._tokens.give(estimated - used)

    def _rest(self, stop: Event) -> None:
        while not stop.is_set():
            with self._lock:
                left = self._closed_until - self._clock.now()
            if left <= 0:
                return
            self._clock.wait(left, stop)
