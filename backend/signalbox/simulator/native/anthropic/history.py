"""The order of messages: calls and their results, and thinking blocks that must come back unaltered."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...json_values import as_object
from .errors import invalid
from .models import simulated_id
from .thinking import is_unaltered
from .usage import content_blocks
from .versions import version_of

Block = dict[str, Any]
_NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
_NO_TOOLS = "Requests which have `tool_use` or `tool_result` blocks in `messages` must define tools."
_ONE_EACH = "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
_NO_RESULT = (
    "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` "
    "block must have a corresponding `tool_result` block in the next message."
)
_NO_CALL = (
    "messages.{at}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
)
_NO_THINKING = (
    "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is "
    "enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` "
    "and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this "
    "requirement, disable `thinking`."
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A block with the indexes of its message and of itself."""

    at: int
    position: int
    block: Block


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive messages of one role, which the API reads as one."""

    role: str
    blocks: list[Placed]

    def of(self, kind: str) -> list[Placed]:
        """Return the blocks of a type."""
        return [placed for placed in self.blocks if placed.block["type"] == kind]


def check_history(body: dict[str, Any], model: str) -> None:
    """Check the order of the messages' blocks."""
    turns = turns_of(body["messages"])
    if turns[0].role != "user":
        raise invalid('messages: first message must use the "user" role')
    _check_ids(turns)
    for before, turn in zip([None, *turns], turns, strict=False):
        _check_results(before, turn)
    _check_unanswered(turns)
    if any(turn.of("tool_use") for turn in turns) and not body.get("tools"):
        raise invalid(_NO_TOOLS)
    _check_signatures(turns, model)
    if as_object(body.get("thinking")).get("type") == "enabled":
        _check_thinking_first(turns)
    _check_end(turns[-1], model)


def turns_of(messages: list[dict[str, Any]]) -> list[Turn]:
    """Return the turns of a conversation."""
    turns: list[Turn] = []
    for at, message in enumerate(messages):
        placed = [Placed(at, position, block) for position, block in enumerate(content_blocks(message["content"]))]
        if turns and turns[-1].role == message["role"]:
            turns[-1].blocks.extend(placed)
        else:
            turns.append(Turn(message["role"], placed))
    return turns


def _check_ids(turns: list[Turn]) -> None:
    ids = [placed.block["id"] for turn in turns for placed in turn.of("tool_use")]
    if len(set(ids)) < len(ids):
        raise invalid("messages: `tool_use` ids must be unique")


def _check_results(before: Turn | None, turn: Turn) -> None:
    """Each result has a call in the previous turn, and each call one result."""
    called = {placed.block["id"] for placed in before.of("tool_use")} if before else set[str]()
    answered: set[str] = set()
    for placed in turn.of("tool_result"):
        name = placed.block["tool_use_id"]
        if name not in called:
            raise invalid(_NO_CALL.format(at=placed.at, position=placed.position, id=name))
        if name in answered:
            raise invalid(f"messages.{placed.at}.content.{placed.position}: {_ONE_EACH.format(id=name)}")
        answered.add(name)


def _check_unanswered(turns: list[Turn]) -> None:
    """The turn after calls begins with all of their results."""
    for turn, after in zip(turns, [*turns[1:], Turn("user", [])], strict=True):
        called = turn.of("tool_use")
        first = after.blocks[: len(called)]
        answered = {placed.block.get("tool_use_id") for placed in first if placed.block["type"] == "tool_result"}
        missing = [placed.block["id"] for placed in called if placed.block["id"] not in answered]
        if missing:
            raise invalid(_NO_RESULT.format(at=called[0].at, ids=", ".join(missing)))


def _check_signatures(turns: list[Turn], model: str) -> None:
    for placed in [placed for turn in turns for placed in turn.blocks]:
        kind = placed.block["type"]
        if kind in ("thinking", "redacted_thinking") and not is_unaltered(simulated_id(model), placed.block):
            field = "signature" if kind == "thinking" else "data"
            raise invalid(f"messages.{placed.at}.content.{placed.position}: Invalid `{field}` in `{kind}` block")


def _check_thinking_first(turns: list[Turn]) -> None:
    """With a thinking budget, every turn of the open tool loop begins with thinking (quirk B7)."""
    for turn, after in reversed(list(pairwise(turns))):
        if turn.role == "user":
            continue
        if not after.of("tool_result"):
            return
        first = turn.blocks[0]
        if first.block["type"] not in ("thinking", "redacted_thinking"):
            raise invalid(_NO_THINKING.format(at=first.at, found=first.block["type"]))


def _check_end(last: Turn, model: str) -> None:
    """Newer models do not continue an assistant message, unless a tool of the API itself is not done."""
    if last.role == "assistant" and version_of(model).rejects_prefill and not last.of("server_tool_use"):
        raise invalid(_NO_PREFILL)
