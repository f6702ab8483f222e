# ruff: noqa: E501 -- what people say
"""Makes events.jsonl: two years of a bookbinder's notes, follows and saves on Nostr, and of those she reads.

    python examples/nostr/make_events.py

Nobody in it exists. Secrets are hashes of names, and signatures are made without chance, so that the file is the
same at every run; never sign anything of your own so.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import nostr_sdk
from coincurve import PrivateKey
from texts import ARTICLES, PEOPLE, SENTENCES, TAGS

FILE = Path(__file__).with_name("events.jsonl")
BEGIN, NOW = 1_735_689_600, 1_774_008_000  # 2025-01-01, 2026-03-20 12:00 UTC
DAY = 86_400
NOTES, REACTIONS, REPLIES = 150, 45, 40

Event = dict[str, Any]


class Someone:
    """Somebody made up, who signs."""

    def __init__(self, name: str, about: str, language: str, topics: tuple[str, ...]) -> None:
        self.name, self.about, self.language, self.topics = name, about, language, topics
        self._secret = PrivateKey(hashlib.sha256(f"clew example {name}".encode()).digest())
        self.key = self._secret.public_key.format()[1:].hex()
        self.npub = nostr_sdk.PublicKey.parse(self.key).to_bech32()

    def sign(self, kind: int, content: str, tags: list[list[str]], at: int) -> Event:
        body = [0, self.key, at, kind, tags, content]
        digest = hashlib.sha256(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()).digest()
        signature = self._secret.sign_schnorr(digest, None).hex()
        head = {"id": digest.hex(), "pubkey": self.key, "created_at": at, "kind": kind}
        return {**head, "tags": tags, "content": content, "sig": signature}


class World:
    """Everybody, and what they have signed so far."""

    def __init__(self) -> None:
        self.people = {row[0]: Someone(*row) for row in PEOPLE}
        self.events: list[Event] = []
        self.notes: list[Event] = []
        self._of = {one.key: one for one in self.people.values()}
        self._random = random.Random(11)

    def add(self, who: str, kind: int, content: str, tags: list[list[str]], at: int) -> Event:
        event = self.people[who].sign(kind, content, tags, at)
        self.events.append(event)
        return event

    def author(self, event: Event) -> Someone:
        return self._of[event["pubkey"]]

    # --- by chance, always the same ---

    def chatter(self) -> None:
        """Notes on everybody's topics, in their languages; a third of them quote an earlier one."""
        everybody = list(self.people.values())
        times = sorted(self._random.randrange(BEGIN, NOW) for _ in range(NOTES))
        for at in times:
            one = self._random.choice(everybody)
            topic = self._random.choice(one.topics)
            lines = SENTENCES[topic].get(one.language) or SENTENCES[topic]["en"]
            text = " ".join(self._random.sample(lines, min(2, len(lines))))
            tags = [["t", TAGS[topic]]]
            earlier = [note for note in self.notes if ["t", TAGS[topic]] in note["tags"]]
            if earlier and self._random.random() < 0.35:
                other = self._random.choice(earlier[-8:])
                text += f" nostr:{note_id(other)}"
                tags += [["q", other["id"]], ["p", other["pubkey"]]]
            self.notes.append(self.add(one.name, 1, f"{text} #{TAGS[topic]}", tags, at))

    def replies(self) -> None:
        for _ in range(REPLIES):
            note = self._random.choice(self.notes)
            one = self._random.choice(list(self.people.values()))
            topic = next(name for name, tag in TAGS.items() if ["t", tag] in note["tags"])
            lines = SENTENCES[topic].get(one.language) or SENTENCES[topic]["en"]
            tags = [["e", note["id"], "", "root", note["pubkey"]], ["p", note["pubkey"]]]
            at = min(note["created_at"] + self._random.randrange(600, 3 * DAY), NOW)
            self.add(one.name, 1, self._random.choice(lines), tags, at)

    def reactions(self) -> None:
        for _ in range(REACTIONS):
            note = self._random.choice(self.notes)
            one = self._random.choice(list(self.people.values()))
            sign = self._random.choice("+🤙🌊📚")
            kind = 6 if self._random.random() < 0.2 else 7
            at = min(note["created_at"] + self._random.randrange(60, DAY), NOW)
            tags = [["e", note["id"]], ["p", note["pubkey"]]]
            self.add(one.name, kind, "" if kind == 6 else sign, tags, at)

    # --- the story ---

    def profiles(self) -> None:
        for one in self.people.values():
            about = {"name": one.name.split()[0].lower(), "display_name": one.name, "about": one.about}
            self.add(one.name, 0, json.dumps(about, ensure_ascii=False), [], BEGIN)

    def follows(self) -> None:
        """Mira follows more people later on: the newest list counts."""
        first = ["Jun Aoki", "Oksana Hnatiuk"]
        every = [*first, "Teo Marín", "Lena Brandt", "Priya Nair"]
        for at, names in ((BEGIN + DAY, first), (BEGIN + 200 * DAY, every)):
            tags = [["p", self.people[name].key, "wss://relay.example", name.split()[0]] for name in names]
            self.add("Mira Solberg", 3, "", tags, at)
        for name in ("Jun Aoki", "Oksana Hnatiuk", "Teo Marín", "Lena Brandt"):
            tags = [["p", self.people["Mira Solberg"].key], ["p", self.people["Priya Nair"].key]]
            self.add(name, 3, "", tags, BEGIN + 30 * DAY)

    def articles(self) -> dict[str, Event]:
        """Long texts; some refer to others by their address."""
        made: dict[str, Event] = {}
        for identifier, (name, title, topic, day, text) in ARTICLES.items():
            for other, event in made.items():
                text = text.replace(f"{{{other}}}", f"nostr:{address_id(event)}")
            tags = [
                ["d", identifier],
                ["title", title],
                ["t", TAGS[topic]],
                ["published_at", str(BEGIN + day * DAY)],
            ]
            made[identifier] = self.add(name, 30023, text, tags, BEGIN + (day + 1) * DAY)
        return made

    def threads(self, articles: dict[str, Event]) -> list[Event]:
        """What Mira wrote on Nostr and Bitcoin, and who answered."""
        jun, oksana = self.people["Jun Aoki"], self.people["Oksana Hnatiuk"]
        seal = self.add(
            "Mira Solberg", 1,
            "A Nostr key is a binder's stamp: whoever sees the mark knows whose hands it passed through, and nobody "
            f"can lend it. nostr:{jun.npub} says the same of Bitcoin. #nostr #bitcoin",
            [["t", "nostr"], ["t", "bitcoin"], ["p", jun.key]], BEGIN + 150 * DAY,
        )  # fmt: skip
        answer = self.add(
            "Jun Aoki", 1, "判子も鍵も、貸せないから意味がある。ビットコインの署名とノストルの署名は同じ曲線の上にある。",
            [["e", seal["id"], "", "root"], ["p", seal["pubkey"]]], BEGIN + 151 * DAY,
        )  # fmt: skip
        self.add(
            "Mira Solberg", 1111, "The same curve: I hadn't known. That explains the shape of the keys.",
            [["E", seal["id"]], ["K", "1"], ["P", seal["pubkey"]], ["e", answer["id"]], ["k", "1"], ["p", jun.key]],
            BEGIN + 151 * DAY + 900,
        )  # fmt: skip
        letters = articles["letters"]
        thanks = self.add(
            "Mira Solberg", 1,
            f"Read nostr:{address_id(letters)} by nostr:{oksana.npub} twice on the night train. What one keeps is "
            "what one copies out by hand. #philosophy",
            [["t", "philosophy"], ["a", address(letters)], ["p", oksana.key]], BEGIN + 110 * DAY,
        )  # fmt: skip
        self.add("Lena Brandt", 9802, "What one keeps is what one copies out by hand.",
                 [["e", thanks["id"]], ["p", thanks["pubkey"], "", "author"], ["comment", "Das hänge ich in die Werkstatt."]],
                 BEGIN + 111 * DAY)  # fmt: skip
        return [seal, thanks]

    def saves(self, articles: dict[str, Event], own: list[Event]) -> None:
        """Mira's bookmarks: last spring's, and this week's."""
        tide = next(note for note in self.notes if ["t", "tides"] in note["tags"])
        spring = [["a", address(articles["letters"])], ["e", tide["id"]], ["a", address(articles["paper"])]]
        week = [["a", address(articles["attention"])], ["a", address(articles["relays"])]]
        for identifier, title, tags, at in (
            ("spring-2025", "Spring 2025", spring, BEGIN + 120 * DAY),
            ("week", "To read this week", week, NOW - 2 * DAY),
        ):
            head = [["d", identifier], ["title", title]]
            self.add("Mira Solberg", 30003, "", head + tags, at)
        self.add("Oksana Hnatiuk", 10003, "", [["e", own[0]["id"]]], BEGIN + 160 * DAY)
        everybody = [["p", one.key] for one in self.people.values()]
        self.add(
            "Priya Nair",
            39089,
            "",
            [["d", "shore"], ["title", "People of the shore"], *everybody],
            BEGIN + 90 * DAY,
        )

    def regrets(self) -> None:
        """A note that its author deleted."""
        note = self.add("Teo Marín", 1, "Posted by mistake. #nostr", [["t", "nostr"]], BEGIN + 40 * DAY)
        self.add("Teo Marín", 5, "", [["e", note["id"]], ["k", "1"]], BEGIN + 41 * DAY)


def note_id(event: Event) -> str:
    made: str = nostr_sdk.EventId.parse(event["id"]).to_bech32()
    return made


def address(event: Event) -> str:
    identifier = next(tag[1] for tag in event["tags"] if tag[0] == "d")
    return f"{event['kind']}:{event['pubkey']}:{identifier}"


def address_id(event: Event) -> str:
    place = nostr_sdk.Coordinate.parse(address(event))
    made: str = nostr_sdk.Nip19Coordinate(place, []).to_bech32()
    return made


def make() -> str:
    """Return the file's text."""
    world = World()
    world.profiles()
    world.follows()
    world.chatter()
    articles = world.articles()
    own = world.threads(articles)
    world.replies()
    world.reactions()
    world.saves(articles, own)
    world.regrets()
    lines = sorted(world.events, key=lambda event: (event["created_at"], event["id"]))
    return "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in lines)


if __name__ == "__main__":
    FILE.write_text(make(), "utf-8")
    print(f"{FILE}: {len(FILE.read_text('utf-8').splitlines())} events")
