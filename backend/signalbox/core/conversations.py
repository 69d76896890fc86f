"""A conversation as it is kept: a tree of nodes, some told by a client, the others answered here."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal
from unicodedata import combining, normalize

from signalbox.core.events import LoopName, Status
from signalbox.core.messages import Message
from signalbox.core.records import RunRecord

Role = Literal["user", "assistant"]

# Characters that are composed together, and how far behind them the next slice may begin.
_SLICE, _MOST_MARKS = 256, 32


def folded(text: str) -> str:
    """Return a text as it is searched: letters of all scripts in one case, and with their marks in one piece (ü)."""
    return composed(text).casefold()


def composed(text: str) -> str:
    """Return a text with letters and their marks in one piece (NFC).

    Python sorts the marks behind a letter one by one: 40,000 of them in the worst order take 15 seconds. So a long
    text is composed slice by slice, cut before a letter that begins something new where there is one.
    """
    if text.isascii() or len(text) <= _SLICE:
        return normalize("NFC", text)
    return "".join(normalize("NFC", piece) for piece in _slices(text))


def _slices(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + _SLICE
        end = next((at for at in range(end, end + _MOST_MARKS) if _begins(text[at : at + 1])), end)
        yield text[start:end]
        start = end


def key_of(owner: str, conversation_id: str) -> str:
    """Return the id under which a conversation is kept: two owners may have chosen the same one.

    A client's own id has no slash in it.
    """
    return f"{owner}/{conversation_id}" if owner else conversation_id


def session_of(key: str) -> str:
    """Return what a host is told: OpenRouter takes 256 characters, and owners are not its business."""
    return blake2b(key.encode(), digest_size=16).hexdigest() if "/" in key else key


def shown_id(key: str) -> str:
    """Return a conversation's id as its owner knows it."""
    return key.rpartition("/")[2]


def _begins(character: str) -> bool:
    """Whether a character, or the end of a text, is composed with nothing before it: no mark, no Hangul vowel."""
    return character.isascii() or (combining(character) == 0 and not "\u1160" <= character <= "\u11ff")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; times are epoch seconds. `leaf_id` is the node that the next question follows.

    `id` is the one under which it is kept, see `key_of`.

    `is_titled`: a person gave the title; else it is the first words of the first question, and empty before.
    """

    id: str
    title: str = ""
    is_titled: bool = False
    created: float = 0.0
    updated: float = 0.0
    owner: str = ""
    leaf_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of the run that a node is; `status` and `ended` (epoch seconds) are None while it goes on.

    The last three are read only where a conversation is shown.
    """

    status: Status | None
    code: str | None
    model: str
    loop: LoopName
    cost: float | None = None
    cost_estimated: bool = False
    steps: int = 0
    ended: float | None = None
    simulated: bool = False
    first_token_ms: int | None = None
    provider: str | None = None
    column: int | None = None


def answer_of(record: RunRecord) -> Answer:
    """Return what a conversation shows of a run."""
    return Answer(**{name: getattr(record, name) for name in Answer.__slots__})


@dataclass(frozen=True, slots=True)
class Node:
    """One place in the tree. `run` is set where a model answered here: the node then has the run's id.

    `system` holds from here on, until another one comes; None says nothing about it, and an empty one takes it away.
    `digest` tells what a client's node says; a run's is known by its `text`.
    """

    id: str
    parent_id: str | None
    role: Role
    created: float = 0.0
    text: str = ""
    digest: str = ""
    system: str | None = None
    run: Answer | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A node that a client tells, and what it holds."""

    node: Node
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A conversation in a list. `model` is the newest run's; `unfinished` runs have no ending on disk.

    `cost` is the sum of all its runs at list prices, `paid` the sum without simulated runs.
    """

    conversation: Conversation
    messages: int = 0
    cost: float | None = None
    paid: float | None = None
    model: str | None = None
    unfinished: tuple[str, ...] = ()
