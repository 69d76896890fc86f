"""Recorded exchanges, read with separate rules that share no code with the decoder."""

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIALECTS = ("openrouter-chat", "openai-chat")
# APIs with separate decoders; their `expect` has further fields. What follows `@` is the server.
NATIVE = ("anthropic-messages", "gemini", "openai-responses", "openai-responses@openrouter")


@dataclass(frozen=True)
class Recorded:
    """One exchange: its facts, and the file with its body."""

    stem: str
    facts: dict[str, Any]
    file: Path

    @property
    def dialect(self) -> str:
        """The name of the dialect, without the server."""
        return self.facts["dialect"].partition("@")[0]

    @property
    def body(self) -> bytes:
        return self.file.read_bytes()

    @property
    def expect(self) -> dict[str, Any]:
        return self.facts["expect"]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return (self.facts.get("request") or {}).get("messages") or []

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self.expect.get("tool_calls") or []

    def reads(self) -> list[bytes]:
        """Cut the body at the recorded chunk sizes; the rest is one more read."""
        cut, at = [], 0
        for size in self.facts.get("chunk_sizes") or []:
            cut.append(self.body[at : at + size])
            at += size
        return [piece for piece in [*cut, self.body[at:]] if piece]


def load(folder: Path, dialects: Collection[str] = DIALECTS) -> list[Recorded]:
    """Load every recording of these dialects, sorted by name; a missing folder has none."""
    found = []
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        if file.name.endswith(".body.json"):
            continue
        facts = json.loads(file.read_text("utf-8"))
        bodies = [file.with_name(file.stem + end) for end in (".sse", ".body.json")]
        body = next((b for b in bodies if b.exists()), None)
        if facts.get("dialect") in dialects and body is not None:
            found.append(Recorded(file.stem, facts, body))
    return found


def chains(recordings: list[Recorded]) -> dict[str, list[Recorded]]:
    """Group the steps of each chain, in order."""
    grouped: dict[str, list[Recorded]] = defaultdict(list)
    for recording in recordings:
        if chain := recording.facts.get("chain"):
            grouped[chain["id"]].append(recording)
    return {name: sorted(steps, key=lambda r: r.facts["chain"]["step"]) for name, steps in sorted(grouped.items())}


def merged(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge reasoning details by type and index: text and summary are joined, other fields take the last value.

    Another id, or a second `data`, begins another item.
    """
    out: list[dict[str, Any]] = []
    for piece in details:
        key = (piece.get("type"), piece.get("index"))
        home = next((d for d in reversed(out) if (d.get("type"), d.get("index")) == key), None)
        other = home is not None and (
            (home.get("id") and piece.get("id") and home["id"] != piece["id"])
            or (home.get("data") and piece.get("data"))
        )
        if home is None or other:
            out.append(dict(piece))
            continue
        for name, value in piece.items():
            if name in ("text", "summary") and home.get(name) and value:
                home[name] += value
            elif value is not None or name not in home:
                home[name] = value
    return out


def as_text(value: object) -> str:
    """Return JSON with its keys in their order, for byte-for-byte comparisons."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
