"""Splits text and calls into streamed pieces, as providers do."""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from random import Random

from .family import CutCalls, CutText, Delta, Detail, MakeDetails, MakeId, Origin, WireCall

ALPHANUMERIC = string.ascii_letters + string.digits
_TOKEN = re.compile(r"\s*[^\s]{1,9}|\s+$")
# The recorded calls in two pieces are shorter.
_SHORT_ARGUMENTS = 500
_JSON_TOKEN = re.compile(r'[{\[]"?|[A-Za-z0-9_]+|[^A-Za-z0-9_]{1,3}')


def tokens(text: str) -> list[str]:
    """Split a text into pieces of about a token."""
    return _TOKEN.findall(text)


def json_tokens(text: str) -> list[str]:
    """Split arguments into pieces of about a token."""
    return _JSON_TOKEN.findall(text)


def whole(text: str) -> list[str]:
    """Return a text as one piece."""
    return [text] if text else []


def groups(size: int) -> CutText:
    """Return a function that splits a text into pieces of `size` tokens."""

    def cut(text: str) -> list[str]:
        pieces = tokens(text)
        return ["".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]

    return cut


def halves(text: str) -> list[str]:
    """Split arguments in two, before the closing quote if there is one; long ones into pieces of a few tokens."""
    if len(text) > _SHORT_ARGUMENTS:
        pieces = json_tokens(text)
        return ["".join(pieces[at : at + 6]) for at in range(0, len(pieces), 6)]
    at = len(text) - 2 if text.endswith('"}') else len(text) // 2
    return [piece for piece in (text[:at], text[at:]) if piece]


def alphanumeric(rng: Random, length: int) -> str:
    """Return random letters and digits."""
    return "".join(rng.choices(ALPHANUMERIC, k=length))


def ids(prefix: str, length: int) -> MakeId:
    """Return a function that makes ids: a prefix and `length` letters and digits."""

    def make(rng: Random, name: str, number: int) -> str:
        return prefix + alphanumeric(rng, length)

    return make


def header(call: WireCall) -> Delta:
    """Return the first delta of a call: id and name, without arguments."""
    function = {"name": call.name, "arguments": ""}
    return {"index": call.position, "id": call.id, "type": "function", "function": function}


def bare(position: int, piece: str) -> Delta:
    """Return a delta with arguments and an index only."""
    return {"index": position, "function": {"arguments": piece}}


def streamed(
    cut: CutText,
    *,
    blank: bool = False,
    blank_only: bool = False,
    fragment: Callable[[int, str], Delta] = bare,
) -> CutCalls:
    """Return a function that streams each call as a header and the pieces of its arguments.

    `blank`: an empty piece follows the header. `blank_only`: arguments `{}` have no further piece.
    """

    def cut_calls(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
        for call in calls:
            yield [header(call)]
            if blank:
                yield [fragment(call.position, "")]
            if blank_only and call.arguments == "{}":
                continue
            for piece in cut(call.arguments):
                yield [fragment(call.position, piece)]

    return cut_calls


def all_at_once(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    """Send all calls complete, in one delta."""
    if calls:
        yield [
            {
                "id": call.id,
                "function": {"name": call.name, "arguments": call.arguments},
                "index": call.position,
                "type": "function",
            }
            for call in calls
        ]


def plain_details(reasoning: str, call_ids: Sequence[str], origin: Origin) -> list[Detail]:
    """Return the reasoning as an unsigned detail of format `unknown`, as open models send it."""
    return [{"type": "reasoning.text", "text": reasoning, "format": "unknown", "index": 0}] if reasoning else []


def summary_details(
    format_name: str, make_id: Callable[[str], str], make_data: Callable[[str, str], str]
) -> MakeDetails:
    """Return a function that makes a readable summary and the encrypted reasoning with an `rs_…` id (Responses API)."""

    def make(reasoning: str, call_ids: Sequence[str], origin: Origin) -> list[Detail]:
        if not reasoning:
            return []
        summary: Detail = {"type": "reasoning.summary", "summary": reasoning, "format": format_name, "index": 0}
        encrypted: Detail = {
            "type": "reasoning.encrypted",
            "data": make_data(origin.model, reasoning),
            "format": format_name,
        }
        return [summary, {**encrypted, "id": make_id(reasoning), "index": 0}]

    return make
