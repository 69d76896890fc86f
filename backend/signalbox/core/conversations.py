"""A stored conversation: a tree of nodes, each sent by a client or answered by a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal
from unicodedata import combining, normalize

from signalbox.core.events import LoopName, Status
from signalbox.core.messages import Message
from signalbox.core.records import RunRecord

Role = Literal["user", "assistant"]

# Characters that are composed at once, and the most combining marks by which a slice may exceed that.
_SLICE, _MOST_MARKS = 256, 32


def case_folded(text: str) -> str:
    """Return a text for searching: case-folded and composed (NFC)."""
    return composed(text).casefold()


def composed(text: str) -> str:
    """Return a text in NFC: each letter and its combining marks as one character.

    Python sorts the marks after a letter in quadratic time: 40,000 of them in the worst order take 15 seconds. So a
    long text is composed in slices, cut before a base character if there is one nearby.
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
    """Return the id under which a conversation is stored; two owners may choose the same one.

    A client's id contains no slash.
    """
    return f"{owner}/{conversation_id}" if owner else conversation_id


def session_of(key: str) -> str:
    """Return the session id to send upstream: at most 256 characters, without the owner."""
    return blake2b(key.encode(), digest_size=16).hexdigest() if "/" in key else key


def shown_id(key: str) -> str:
    """Return the id that the client chose, without the owner."""
    return key.rpartition("/")[2]


def _begins(character: str) -> bool:
    """Return whether a character does not compose with the one before it; true for an empty text."""
    return character.isascii() or (combining(character) == 0 and not "\u1160" <= character <= "\u11ff")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; times are epoch seconds.

    `id` is the stored id, see `key_of`. `leaf_id` is the node that the next question follows. `is_titled` is whether
    the user set the title; otherwise it is the first words of the first question, and empty before.
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
    """A node's run; `status` and `ended` (epoch seconds) are None while it is active.

    The last three fields are loaded only to display a conversation.
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
    """Return the fields of a run that a conversation shows."""
    return Answer(**{name: getattr(record, name) for name in Answer.__slots__})


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the tree. `run` is set if the node is a run's answer; the node then has the run's id.

    `system` applies to this node and its descendants until another node sets it; None leaves it unchanged, an empty
    string removes it. `digest` identifies the content of a client's node; a run's node is identified by its `text`.
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
class ClientNode:
    """A node that a client sent, with its messages."""

    node: Node
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation in a list. `model` is the newest run's; `unfinished` are ids of runs without an ending on disk.

    `cost` sums all its runs at list prices, `paid` all but simulated runs.
    """

    conversation: Conversation
    messages: int = 0
    cost: float | None = None
    paid: float | None = None
    model: str | None = None
    unfinished: tuple[str, ...] = ()
