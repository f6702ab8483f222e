"""Signatures that were verified before: a file of hashes beside the index. Deleting it costs time alone."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

SIZE = 16  # bytes of a hash


class Known:
    """The hashes of verified (id, signature) pairs. Without a file it remembers nothing beyond itself."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: set[bytes] = set()
        self._new: list[bytes] = []
        if file is not None:
            try:
                data = file.read_bytes()
            except OSError:
                return
            self._known = {data[at : at + SIZE] for at in range(0, len(data) - SIZE + 1, SIZE)}

    def has(self, event_id: str, signature: str) -> bool:
        """Tell whether this signature of this event was verified before."""
        return _hash(event_id, signature) in self._known

    def add(self, event_id: str, signature: str) -> None:
        """Note a signature that was verified."""
        key = _hash(event_id, signature)
        if key not in self._known:
            self._known.add(key)
            self._new.append(key)

    def save(self) -> None:
        """Add what is new to the file. That it can't be written costs time at the next run."""
        if self._file is None or not self._new:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as file:
                torn = file.tell() % SIZE  # of a run that was killed while it wrote
                file.write(bytes(SIZE - torn if torn else 0) + b"".join(self._new))
        except OSError:
            return
        self._new.clear()


def _hash(event_id: str, signature: str) -> bytes:
    return blake2b((event_id + signature).encode(), digest_size=SIZE).digest()
