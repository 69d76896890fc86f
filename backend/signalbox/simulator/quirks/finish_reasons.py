"""Wrong finish reasons, malformed calls, and tools that do not exist (A12-A14)."""

from dataclasses import replace
from typing import Any

from ..completion import Completion
from ..families import Family
from ..faults.steps import answer, asking, is_first, one_search, search, topic, two_searches
from ..http.incoming import Incoming
from ..model.answer import rounds
from ..model.turns import Call, Turn
from .quirk import (
    UNFINISHED,
    ChangeBody,
    ChangeStream,
    Chunk,
    MakeTurn,
    Quirk,
    altered,
    choice,
    first_step,
    with_finish,
)

# ---- A12: the finish reason is wrong


def _blank_in_the_middle(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send finish_reason `""` in every chunk before the last (opencrabs#1499)."""
    blank = {"finish_reason": "", "native_finish_reason": ""}
    return [
        altered(chunk, finish=blank) if chunk.get("choices") and choice(chunk)["finish_reason"] is None else chunk
        for chunk in chunks
    ]


def _overwritten(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send `tool_calls`, then `stop` in a later chunk (router-for-me/CLIProxyAPI#866)."""
    if not completion.calls:
        return chunks
    ended = [at for at, chunk in enumerate(chunks) if choice(chunk).get("finish_reason")]
    later = altered(chunks[ended[0]], finish={"finish_reason": "stop"}, content="")
    choice(later)["delta"].pop("tool_calls", None)
    return [*chunks[: ended[0] + 1], later, *chunks[ended[0] + 1 :]]


def _ends(reason: Any, native: Any = None) -> dict[str, Any]:
    stream, whole = with_finish(reason, native)
    return {"stream": stream, "whole": whole}


# ---- A13: the provider reports a malformed call


def _malformed(text: str = "", *, call: bool = False) -> MakeTurn:
    """Send `text`, which contains the end of the malformed call or nothing, and the call itself if `call`."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        if not is_first(incoming):
            return answer(incoming)
        asked = asking(incoming, *one_search(incoming))
        said = text.format(query=topic(incoming))
        return replace(asked, text=said, calls=asked.calls if call else (), finish="stop")

    return turn


def _native(reason: str, native: str) -> tuple[ChangeStream, ChangeBody]:
    """End the malformed answer, and no other one, with these finish reasons."""
    stream, whole = with_finish(reason, native, calls_only=False)

    def changed_stream(completion: Completion, chunks: list[Chunk]) -> Any:
        return stream(completion, chunks) if _is_malformed(completion) else chunks

    def changed_whole(completion: Completion, body: Chunk) -> Chunk:
        return whole(completion, body) if _is_malformed(completion) else body

    return changed_stream, changed_whole


def _is_malformed(completion: Completion) -> bool:
    return completion.limited.turn.finish == "stop"


def _quirk(turn: MakeTurn, reason: str, native: str = "MALFORMED_FUNCTION_CALL", *, transient: bool = True) -> Quirk:
    stream, whole = _native(reason, native)
    return Quirk(turn=turn, stream=stream, whole=whole, transient=transient)


def _with_error(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Add an error object to the chunk with the finish reason."""
    if not _is_malformed(completion):
        return chunks
    error = {"code": 502, "message": "Malformed function call"}
    return [
        {**altered(chunk, finish=_MALFORMED), "error": error} if choice(chunk).get("finish_reason") else chunk
        for chunk in chunks
    ]


def _whole_with_error(completion: Completion, body: Chunk) -> Chunk:
    if _is_malformed(completion):
        choice(body).update(_MALFORMED, error={"code": 502, "message": "Malformed function call"})
    return body


_MALFORMED = {**UNFINISHED, "finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}
_TAIL = 'default_api.search_web(query="{query}", num_results='


# ---- A14: tools that were not offered


def _parallel(incoming: Incoming) -> list[Call]:
    uses = [
        {"recipient_name": f"functions.{call.name}", "parameters": call.arguments} for call in two_searches(incoming)
    ]
    return [Call("multi_tool_use.parallel", {"tool_uses": uses})]


def _prefixed(prefix: str) -> MakeTurn:
    return first_step(lambda incoming: [replace(call, name=prefix + call.name) for call in one_search(incoming)])


def _endless(incoming: Incoming, family: Family) -> Turn:
    """Call another invented tool in every step."""
    if not incoming.may_call:
        return answer(incoming)
    done = rounds(incoming)
    return asking(incoming, Call(f"lookup_{'abcdefgh'[done % 8]}", {"query": f"{topic(incoming)} {done + 1}"}))


def _then_search(incoming: Incoming, family: Family) -> Turn:
    """Call an invented tool, then a real one."""
    done = rounds(incoming)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    call = search(incoming, topic(incoming))
    return asking(incoming, call if done else replace(call, name="google_search"))


QUIRKS: dict[str, Quirk] = {
    "a12": Quirk(**_ends("stop", "stop")),
    "a12-blank": Quirk(stream=_blank_in_the_middle, whole=_ends("")["whole"]),
    "a12-overwritten": Quirk(stream=_overwritten),
    "a12-null": Quirk(**_ends(None)),
    "a13": _quirk(_malformed(_TAIL), "stop"),
    "a13-always": _quirk(_malformed(_TAIL), "stop", transient=False),
    "a13-empty": _quirk(_malformed(), "error"),
    "a13-empty-always": _quirk(_malformed(), "error", transient=False),
    "a13-call": _quirk(_malformed(call=True), "stop"),
    "a13-call-always": _quirk(_malformed(call=True), "stop", transient=False),
    "a13-unexpected": _quirk(_malformed(), "stop", "UNEXPECTED_TOOL_CALL"),
    "a13-unexpected-always": _quirk(_malformed(), "stop", "UNEXPECTED_TOOL_CALL", transient=False),
    "a13-error": Quirk(turn=_malformed(), stream=_with_error, whole=_whole_with_error, transient=True),
    "a14-parallel": Quirk(turn=first_step(_parallel)),
    "a14-namespace": Quirk(turn=_prefixed("default_api.")),
    "a14-functions": Quirk(turn=_prefixed("functions.")),
    "a14-invented": Quirk(turn=_then_search),
    "a14-endless": Quirk(turn=_endless),
}
