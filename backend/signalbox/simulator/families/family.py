"""What an accent is: the facts of one family's wire and how it cuts its calls, its text and its reasoning."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

Delta = dict[str, Any]
Detail = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call as it goes out: position in the message, id, name and the text of its arguments."""

    position: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Who thinks: a seal of one model is refused by another (quirk B4), Gemini's also by another host (quirk B2)."""

    model: str
    provider: str


MakeId = Callable[[Random, str, int], str]
CutCalls = Callable[[Sequence[WireCall]], Iterator[list[Delta]]]
CutText = Callable[[str], list[str]]
MakeDetails = Callable[[str, Sequence[str], "Origin"], list[Detail]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family's way of speaking OpenRouter's wire."""

    name: str
    providers: tuple[str, ...]
    """The hosts that serve it; the first one unless the request orders another."""
    slugs: Mapping[str, str] = field(default_factory=dict[str, str])
    """The slugs of hosts that are not their name in lower case."""
    native: Mapping[str, str]
    """finish_reason → native_finish_reason."""
    make_id: MakeId
    """The id of a call from a source of chance, the tool's name and the call's number in the conversation."""
    cut_calls: CutCalls
    cut_text: CutText
    cut_reasoning: CutText
    make_details: MakeDetails
    """The whole reasoning_details of a message from its reasoning, call ids and origin; sealed where they are."""
    reasons_by_default: bool = True
    preamble: bool = False
    """Says a sentence before it calls."""
    compact_arguments: bool = True
    """Writes `{"a":1}` rather than `{"a": 1}`."""
    newer: bool = True
    """The envelope of 2026 (id, object, created, model, provider), not that of 2025, which has logprobs: null."""
    opening: Delta | None = None
    """The delta of a first chunk that brings nothing."""
    text_extra: Delta = field(default_factory=dict[str, Any])
    """What stands beside the content of a text chunk."""
    finish_extra: Delta = field(default_factory=dict[str, Any])
    """What stands in the delta of the finish chunk."""
    finish_repeated: bool = True
    """finish_reason stands again on the usage chunk (recordings of 2026), instead of null (those of 2025)."""
    finish_on_calls: bool = False
    """The chunk of the calls carries the finish_reason too."""
    usage_without_choice: bool = False
    """After plain text the usage chunk has `choices: []`."""
    encrypted_after_text: bool = False
    """The sealed detail of an answer without calls comes after its text."""
    comments: tuple[int, int] = (2, 0)
    """Keep-alive comments before the first chunk, and between the first and the second."""
    burst: int = 1
    """Frames in one network write."""
    final_extra: Delta = field(default_factory=dict[str, Any])
    """What the last chunk carries beside its usage."""

    def provider(self, order: Sequence[str]) -> str:
        """Pick the host: the first of the request's order that serves this family, else the usual one."""
        slugs = {name.lower().replace(" ", "-"): name for name in self.providers} | dict(self.slugs)
        return next((slugs[wanted] for wanted in order if wanted in slugs), self.providers[0])
