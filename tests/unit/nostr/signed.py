"""People with fixed secrets, and the events that they sign."""

import hashlib
import json

import coincurve
import nostr_sdk

T0 = 1_700_000_000


class Signer:
    """Somebody who signs. ``key`` is the public key in hexadecimal, ``npub`` as people write it."""

    def __init__(self, name: str) -> None:
        self.name = name
        secret = hashlib.sha256(f"clew test {name}".encode()).hexdigest()
        self._secret = secret
        self._keys = nostr_sdk.Keys.parse(secret)
        self.key = self._keys.public_key().to_hex()
        self.npub = self._keys.public_key().to_bech32()

    def sign(self, kind, content="", tags=(), at=T0):
        """Return an event as a dictionary."""
        if not all(tags):  # the library makes no empty tags; others do
            return self._by_hand(kind, content, tags, at)
        parsed = [nostr_sdk.Tag.parse([str(part) for part in tag]) for tag in tags]
        builder = nostr_sdk.EventBuilder(nostr_sdk.Kind(kind), content).tags(parsed)
        made = builder.custom_created_at(nostr_sdk.Timestamp.from_secs(at)).finalize(self._keys)
        return json.loads(made.as_json())

    def _by_hand(self, kind, content, tags, at):
        body = json.dumps([0, self.key, at, kind, tags, content], ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(body.encode()).digest()
        signature = coincurve.PrivateKey(bytes.fromhex(self._secret)).sign_schnorr(digest).hex()
        fields = {"id": digest.hex(), "pubkey": self.key, "created_at": at, "kind": kind, "tags": list(tags)}
        return {**fields, "content": content, "sig": signature}

    def note(self, text, tags=(), at=T0):
        return self.sign(1, text, tags, at)

    def profile(self, at=T0, **fields):
        return self.sign(0, json.dumps({"name": self.name, **fields}, ensure_ascii=False), at=at)

    def delete(self, *events, at=T0 + 10_000, addresses=()):
        tags = [["e", event["id"]] for event in events] + [["a", address] for address in addresses]
        return self.sign(5, "", tags, at)


ANA, BEN, CY = Signer("Ana Lima"), Signer("Ben"), Signer("Cy 🦊")


def note_of(event):
    """Return an event's note1… (NIP-19)."""
    return nostr_sdk.EventId.parse(event["id"]).to_bech32()


def write_lines(path, events):
    path.write_text("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events), "utf-8")
    return path
