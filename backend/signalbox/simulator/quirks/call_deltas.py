"""Indexes, ids and names in the deltas of calls (A1-A5, A15-A19)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..completion import Completion
from ..families import Delta, Family, WireCall
from ..faults.steps import answer, asking, search, topic, two_searches, two_tools
from ..http.incoming import Incoming
from ..model.answer import rounds
from ..model.turns import Call, Turn
from .quirk import (
    ChangeBody,
    Quirk,
    body_calls,
    chain,
    choice,
    first_step,
    header,
    piece,
    replace_calls,
    thirds,
    whole_call,
    with_finish,
    without,
)

Cut = Callable[[Sequence[WireCall]], Iterator[list[Delta]]]


def _each(*fields: str, **changed: Any) -> Callable[[list[Delta]], list[Delta]]:
    """Return a function that removes and changes fields of the calls of a body."""
    return lambda calls: [{**without(call, *fields), **changed} for call in calls]


# ---- A1: parallel calls share one index


def _one_index(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [whole_call(call, index=0)]


def _one_index_in_pieces(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call, index=0)]
        for text in thirds(call.arguments):
            yield [piece(text)]


def _one_index_in_turns(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    """Send both headers, then alternating pieces, which only their ids tell apart."""
    for call in calls:
        yield [header(call, index=0)]
    for texts in zip(*(thirds(call.arguments) for call in calls), strict=True):
        for call, text in zip(calls, texts, strict=True):
            yield [piece(text, id=call.id)]


def _one_index_no_id(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [without(whole_call(call, index=0), "id")]


def _a01(cut: Cut, *left_out: str, calls: Callable[[Incoming], list[Call]] = two_tools) -> Quirk:
    return Quirk(turn=first_step(calls), stream=replace_calls(cut), whole=body_calls(_each(*left_out, index=0)))


# ---- A2: the index is absent


def _no_index(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [without(header(call), "index")]
        yield from ([piece(text, None)] for text in thirds(call.arguments))


def _null_index(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call, index=None)]
        yield from ([{**piece(text), "index": None}] for text in thirds(call.arguments))


def _late_index(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [without(header(call), "index")]
        yield from ([piece(text, call.position)] for text in thirds(call.arguments))


# ---- A3: the first chunk holds two entries of one call


def _two_entries(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        first, *rest = thirds(call.arguments)
        yield [header(call), piece(first, call.position)]
        yield from ([piece(text, call.position)] for text in rest)


# ---- A4: the id is missing, null, a number, resent, or late


def _ids(first: Callable[[WireCall], Any], later: Callable[[WireCall, int], Any]) -> Cut:
    """Return a function that sends a call with these ids in header and pieces; None: without id."""

    def cut(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
        for call in calls:
            given = first(call)
            yield [without(header(call), "id") if given is None else header(call, id=given)]
            for at, text in enumerate(thirds(call.arguments)):
                given = later(call, at)
                yield [piece(text, call.position, **({} if given is None else {"id": given}))]

    return cut


def _null_id(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call, id=None)]
        yield from ([piece(text, call.position, id=None)] for text in thirds(call.arguments))


def _number(call: WireCall) -> int:
    return 7000 + call.position


def _correct_id(call: WireCall) -> str:
    return call.id


def _no_id(call: WireCall) -> None:
    return None


def _never(call: WireCall, at: int) -> None:
    return None


def _numbered() -> ChangeBody:
    return body_calls(lambda calls: [{**call, "id": 7000 + at} for at, call in enumerate(calls)])


# ---- A5: the name is resent, blank, split, or not a string


def _named(later: Callable[[str], Any]) -> Cut:
    """Return a function that sends a call whose pieces have a name too."""

    def cut(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
        for call in calls:
            yield [header(call)]
            for text in thirds(call.arguments):
                yield [piece(text, call.position, function={"name": later(call.name), "arguments": text})]

    return cut


def _split_name(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    """Split a name at its last underscore; the first half may be the name of another tool."""
    for call in calls:
        at = max(call.name.rfind("_"), 1)
        yield [header(call, function={"name": call.name[:at], "arguments": ""})]
        yield [piece("", call.position, function={"name": call.name[at:], "arguments": ""})]
        yield from ([piece(text, call.position)] for text in thirds(call.arguments))


# ---- A15, A16: ids that are repeated, and ids in other formats


def _with_ids(make: Callable[[WireCall], str]) -> Callable[[Incoming, Completion], Completion]:
    def change(incoming: Incoming, completion: Completion) -> Completion:
        return replace(completion, calls=tuple(replace(call, id=make(call)) for call in completion.calls))

    return change


def _two_steps(incoming: Incoming, family: Family) -> Turn:
    done = rounds(incoming)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    return asking(incoming, search(incoming, f"{topic(incoming)} {done + 1}"))


def _long_id(call: WireCall) -> str:
    return f"chatcmpl-tool-{call.position}-" + "0123456789a" * 4


# ---- A17: arguments without a name


def _name_then_arguments(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call)]
        yield [{"index": call.position + 1, "type": "function", "function": {"arguments": call.arguments}}]


def _arguments_of_another_id(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call)]
        yield [piece(call.arguments, call.position, id=f"{call.id}x", type="function")]


def _nameless_too(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [whole_call(call)]
    function = {"arguments": '{"query":"not requested"}'}
    yield [{"index": len(calls), "id": "call_nameless", "type": "function", "function": function}]


def _nameless_whole(calls: list[Delta]) -> list[Delta]:
    function = {"name": "", "arguments": '{"query":"not requested"}'}
    return [*calls, {**calls[-1], "index": len(calls), "id": "call_nameless", "function": function}]


# ---- A18: braces in strings


def _braced(incoming: Incoming) -> list[Call]:
    return [search(incoming, f'{topic(incoming)} "}}{{" {{"a": "}}"}}')]


def _around_braces(text: str) -> list[str]:
    """Split a text so that every brace is a separate piece."""
    pieces = [""]
    for letter in text:
        if letter in "{}" or pieces[-1] in ("{", "}"):
            pieces.append("")
        pieces[-1] += letter
    return [cut for cut in pieces if cut]


def _braces_alone(calls: Sequence[WireCall]) -> Iterator[list[Delta]]:
    for call in calls:
        yield [header(call)]
        yield from ([piece(text, call.position)] for text in _around_braces(call.arguments))


# ---- A19: the legacy function_call


def _legacy(calls: Sequence[WireCall]) -> Iterator[Any]:
    call = calls[0]
    yield {"name": call.name, "arguments": ""}
    yield from ({"arguments": text} for text in thirds(call.arguments))


def _legacy_whole(completion: Completion, body: dict[str, Any]) -> dict[str, Any]:
    message = choice(body)["message"]
    if calls := message.pop("tool_calls", None):
        message["function_call"] = calls[0]["function"]
        choice(body)["finish_reason"] = "function_call"
    return body


QUIRKS: dict[str, Quirk] = {
    "a01": _a01(_one_index),
    "a01-fragmented": _a01(_one_index_in_pieces),
    "a01-by-turns": _a01(_one_index_in_turns),
    "a01-same-name": _a01(_one_index_in_pieces, calls=two_searches),
    "a01-no-id": _a01(_one_index_no_id, "id", calls=two_searches),
    "a02": Quirk(turn=first_step(two_tools), stream=replace_calls(_no_index), whole=body_calls(_each("index"))),
    "a02-null": Quirk(
        turn=first_step(two_tools),
        stream=replace_calls(_null_index),
        whole=body_calls(_each(index=None)),
    ),
    "a02-late": Quirk(turn=first_step(two_tools), stream=replace_calls(_late_index), whole=body_calls(_each("index"))),
    "a03": Quirk(stream=replace_calls(_two_entries)),
    "a04-int": Quirk(turn=first_step(two_tools), stream=replace_calls(_ids(_number, _never)), whole=_numbered()),
    "a04-null": Quirk(turn=first_step(two_tools), stream=replace_calls(_null_id), whole=body_calls(_each(id=None))),
    "a04-resent": Quirk(turn=first_step(two_tools), stream=replace_calls(_ids(_correct_id, lambda call, _: call.id))),
    "a04-late": Quirk(
        turn=first_step(two_tools),
        stream=replace_calls(_ids(_no_id, lambda call, at: call.id if at == 1 else None)),
    ),
    "a04-none": Quirk(
        turn=first_step(two_tools),
        stream=replace_calls(_ids(_no_id, _never)),
        whole=body_calls(_each("id")),
    ),
    "a05-resent": Quirk(turn=first_step(two_tools), stream=replace_calls(_named(str))),
    "a05-blank": Quirk(turn=first_step(two_tools), stream=replace_calls(_named(lambda _: ""))),
    "a05-nonstring": Quirk(turn=first_step(two_tools), stream=replace_calls(_named(lambda _: 42))),
    "a05-split": Quirk(turn=first_step(two_tools), stream=replace_calls(_split_name)),
    "a15": Quirk(turn=_two_steps, completion=_with_ids(lambda _: "call_0")),
    "a15-step": Quirk(turn=first_step(two_tools), completion=_with_ids(lambda _: "call_0")),
    "a16-long": Quirk(turn=first_step(two_tools), completion=_with_ids(_long_id)),
    "a16-dots": Quirk(
        turn=first_step(two_tools), completion=_with_ids(lambda call: f"tool:{call.name}.v1:{call.position}/a")
    ),
    "a17": Quirk(stream=replace_calls(_name_then_arguments)),
    "a17-id": Quirk(stream=replace_calls(_arguments_of_another_id)),
    "a17-nameless": Quirk(stream=replace_calls(_nameless_too), whole=body_calls(_nameless_whole)),
    "a18": Quirk(turn=first_step(_braced), stream=replace_calls(_braces_alone)),
    "a19": Quirk(
        stream=chain(replace_calls(_legacy, field="function_call"), with_finish("function_call")[0]),
        whole=_legacy_whole,
    ),
}
