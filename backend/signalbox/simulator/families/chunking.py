"""How hosts cut what they stream: into tokens, sentences or not at all, and calls into header and fragments."""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from random import Random

from .family import CutCalls, CutText, Delta, Detail, MakeDetails, MakeId, Origin, WireCall

ALPHANUMERIC = string.ascii_letters + string.digits
_TOKEN = re.compile(r"\s*[^\s]{1,9}|\s+$")
_JSON_TOKEN = re.compile(r'[{\[]"?|[A-Za-z0-9_]+|[^A-Za-z0-9_]{1,3}')


def tokens(text: str) -> list[str]:
    """Cut a text into pieces of about a token."""
    return _TOKEN.findall(text)


def json_tokens(text: str) -> list[str]:
    """Cut the text of arguments into pieces of about a token."""
    return _JSON_TOKEN.findall(text)


def whole(text: str) -> list[str]:
    """Leave a text in one piece."""
    return [text] if text else []


def groups(size: int) -> CutText:
    """Cut a text into pieces of so many tokens."""

    def cut(text: str) -> list[str]:
        pieces = tokens(text)
        return ["".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]

    return cut


def halves(text: str) -> list[str]:
    """Cut arguments in two, before the closing quote where there is one."""
    at = len(text) - 2 if text.endswith('"}') else len(text) // 2
    return [piece for piece in (text[:at], text[at:]) if piece]


def alphanumeric(rng: Random, length: int) -> str:
    """Make a text of letters and digits."""
    return "".join(rng.choices(ALPHANUMERIC, k=length))


def ids(prefix: str, length: int) -> MakeId:
    """Make ids of a fixed prefix and so many letters and digits."""

    def make(rng: Random, name: str, number: int) -> str:
        return prefix + alphanumeric(rng, length)

    return make


def header(call: WireCall) -> Delta:
    """The first delta of a call: id and name, no arguments yet."""
    function = {"name": call.name, "arguments": ""}
    return {"index": call.position, "id": call.id, "type": "function", "function": function}


def bare(position: int, piece: str) -> Delta:
    """A fragment that names nothing but its index."""
    return {"index": position, "function": {"arguments": piece}}


def streamed(
    cut: CutText,
    *,
    blank: bool = False,
    blank_only: bool = False,
    fragment: Callable[[int, str], Delta] = bare,
) -> CutCalls:
    """Send each call as header, an empty fragment where the host sends one, then the cut arguments.

    `blank_only`: the arguments `{}` are never written; the call ends with the empty fragment.
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
    """Send every call whole, all of them in one delta."""
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
    """Open models: the reasoning once more as a detail of unknown format, unsigned."""
    return [{"type": "reasoning.text", "text": reasoning, "format": "unknown", "index": 0}] if reasoning else []


def summary_details(
    format_name: str, make_id: Callable[[str], str], make_data: Callable[[str, str], str]
) -> MakeDetails:
    """Responses-style hosts: a readable summary and, beside it, the sealed reasoning under an `rs_…` id."""

    def make(reasoning: str, call_ids: Sequence[str], origin: Origin) -> list[Detail]:
        if not reasoning:
            return []
        summary: Detail = {"type": "reasoning.summary", "summary": reasoning, "format": format_name, "index": 0}
        sealed: Detail = {
            "type": "reasoning.encrypted",
            "data": make_data(origin.model, reasoning),
            "format": format_name,
        }
        return [summary, {**sealed, "id": make_id(reasoning), "index": 0}]

    return make
