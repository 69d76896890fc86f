"""The type `Family`: how a family's providers format and split an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

Delta = dict[str, Any]
Detail = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call with its position in the message and its arguments as text."""

    position: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The model and provider that reasoned.

    Another model rejects the signature (quirk B4), and so does Gemini's other provider (quirk B2).
    """

    model: str
    provider: str


MakeId = Callable[[Random, str, int], str]
CutCalls = Callable[[Sequence[WireCall]], Iterator[list[Delta]]]
CutText = Callable[[str], list[str]]
MakeDetails = Callable[[str, Sequence[str], "Origin"], list[Detail]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The wire format of a model family."""

    name: str
    providers: tuple[str, ...]
    """Its providers; the first serves a request that does not name another."""
    slugs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Provider names by slug, for slugs that are not the name in lower case."""
    native: Mapping[str, str]
    """finish_reason → native_finish_reason."""
    make_id: MakeId
    """Makes the id of a call from a random generator, the tool's name and the call's number in the conversation."""
    cut_calls: CutCalls
    cut_text: CutText
    cut_reasoning: CutText
    make_details: MakeDetails
    """Returns the `reasoning_details` of a message, signed or encrypted if the family's are."""
    reasons_by_default: bool = True
    preamble: bool = False
    """It writes a sentence before calls."""
    compact_arguments: bool = True
    """It writes `{"a":1}` instead of `{"a": 1}`."""
    newer: bool = True
    """Chunks have the keys of 2026 (id, object, created, model, provider), not those of 2025 with `logprobs: null`."""
    opening: Delta | None = None
    """The delta of an empty first chunk."""
    text_extra: Delta = field(default_factory=dict[str, Any])
    """Further fields in the delta of a text chunk."""
    finish_extra: Delta = field(default_factory=dict[str, Any])
    """Further fields in the delta of the finish chunk."""
    finish_repeated: bool = True
    """The usage chunk repeats finish_reason (recordings of 2026); otherwise it is null (2025)."""
    finish_on_calls: bool = False
    """The chunk with the calls also has the finish_reason."""
    usage_without_choice: bool = False
    """The usage chunk of an answer without calls has `choices: []`."""
    encrypted_after_text: bool = False
    """The encrypted detail of an answer without calls comes after its text."""
    comments: tuple[int, int] = (2, 0)
    """Numbers of keep-alive comments before the first chunk, and between the first and the second."""
    burst: int = 1
    """Frames per network write."""
    final_extra: Delta = field(default_factory=dict[str, Any])
    """Further fields of the last chunk."""

    def provider(self, order: Sequence[str]) -> str:
        """Return the first provider in `order` that serves this family, else the default."""
        slugs = {name.lower().replace(" ", "-"): name for name in self.providers} | dict(self.slugs)
        return next((slugs[wanted] for wanted in order if wanted in slugs), self.providers[0])
