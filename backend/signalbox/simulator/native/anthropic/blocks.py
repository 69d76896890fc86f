"""The content blocks of messages: which role may have them, with which fields."""

import re
from typing import Any, cast

from ...json_values import as_object
from .errors import invalid, unknown_tag

# type → (required fields, optional fields besides cache_control, the role that may have it)
_BLOCKS: dict[str, tuple[str, str, str]] = {
    "text": ("text", "citations", ""),
    "image": ("source", "", ""),
    "document": ("source", "title context citations", ""),
    "search_result": ("source title content", "citations", ""),
    "thinking": ("thinking signature", "", "assistant"),
    "redacted_thinking": ("data", "", "assistant"),
    "tool_use": ("id name input", "caller", "assistant"),
    "tool_result": ("tool_use_id", "content is_error", "user"),
}
# Blocks of tools that the API runs itself come back as they were sent; their fields are not checked.
_OF_THE_API = re.compile(
    r"server_tool_use|mcp_tool_use|container_upload|compaction|fallback|unheard_of|\w+_tool_result"
)
_IN_RESULTS = ("text", "image", "document", "search_result", "tool_reference")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_EMPTY = "all messages must have non-empty content except for the optional final assistant message"


def check_content(content: object, at: int, role: str, *, is_last: bool) -> None:
    """Check the content of one message, a string or blocks."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise invalid(f"messages.{at}.content: Input should be a valid array")
    if not content:
        if role == "user":
            raise invalid(f"messages.{at}: user messages must have non-empty content")
        if not is_last:
            raise invalid(f"messages.{at}: {_EMPTY}")
    blocks = cast(list[Any], content)
    for position, block in enumerate(blocks):
        _check_block(as_object(block), f"messages.{at}.content.{position}", role)
    if is_last and role == "assistant" and blocks and str(as_object(blocks[-1]).get("text", "")).endswith((" ", "\n")):
        raise invalid("messages: final assistant content cannot end with trailing whitespace")


def _check_block(block: dict[str, Any], where: str, role: str) -> None:
    kind = block.get("type")
    if kind is None:
        raise invalid(f"{where}.type: Field required")
    if _OF_THE_API.fullmatch(str(kind)):
        return
    if kind not in _BLOCKS:
        raise invalid(f"{where}: {unknown_tag(kind, ', '.join(map(repr, _BLOCKS)))}")
    required, optional, only = _BLOCKS[kind]
    if only and role != only:
        raise invalid(f"{where.split('.content', maxsplit=1)[0]}: `{kind}` blocks can only be in `{only}` messages")
    _check_fields(block, f"{where}.{kind}", required.split(), optional.split(), cacheable="thinking" not in kind)
    _CHECKS.get(kind, _nothing)(block, f"{where}.{kind}")


def _check_fields(
    block: dict[str, Any], where: str, required: list[str], optional: list[str], *, cacheable: bool
) -> None:
    for name in required:
        if name not in block:
            raise invalid(f"{where}.{name}: Field required")
    allowed = {"type", *required, *optional, *(["cache_control"] if cacheable else [])}
    unknown = sorted(set(block) - allowed)
    if unknown:
        raise invalid(f"{where}.{unknown[0]}: Extra inputs are not permitted")
    mark = block.get("cache_control")
    if mark is not None and as_object(mark).get("type") != "ephemeral":
        raise invalid(f"{where}.cache_control.type: Input should be 'ephemeral'")


def _check_text(block: dict[str, Any], where: str) -> None:
    text = block["text"]
    if not isinstance(text, str):
        raise invalid(f"{where}.text: Input should be a valid string")
    if not text:
        raise invalid("messages: text content blocks must be non-empty")
    if not text.strip():
        raise invalid("messages: text content blocks must contain non-whitespace text")


def _check_signed(block: dict[str, Any], where: str) -> None:
    for name in ("thinking", "signature", "data"):
        if name in block and not isinstance(block[name], str):
            raise invalid(f"{where}.{name}: Input should be a valid string")


def _check_call(block: dict[str, Any], where: str) -> None:
    if not isinstance(block["id"], str) or not _ID.fullmatch(block["id"]):
        raise invalid(f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block["name"], str) or not _NAME.fullmatch(block["name"]):
        raise invalid(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(block["input"], dict):
        raise invalid(f"{where}.input: Input should be an object")


def _check_result(block: dict[str, Any], where: str) -> None:
    content = block.get("content")
    if isinstance(content, list):
        for position, part in enumerate(cast(list[Any], content)):
            kind = as_object(part).get("type")
            if kind not in _IN_RESULTS:
                text = unknown_tag(kind, ", ".join(map(repr, _IN_RESULTS)))
                raise invalid(f"{where}.content.{position}: {text}")
            if kind == "text":
                _check_text(as_object(part), f"{where}.content.{position}.text")
    elif content is not None and not isinstance(content, str):
        raise invalid(f"{where}.content: Input should be a valid string or array")
    if block.get("is_error") is True and not content:
        raise invalid(f"{where}: content cannot be empty if `is_error` is true")


def _check_image(block: dict[str, Any], where: str) -> None:
    source = as_object(block["source"])
    needed = {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)}.get(str(source.get("type")))
    if needed is None:
        raise invalid(f"{where}.source.type: Input should be 'base64', 'url' or 'file'")
    for name in needed:
        if name not in source:
            raise invalid(f"{where}.source.{source['type']}.{name}: Field required")


def _nothing(block: dict[str, Any], where: str) -> None:
    """Accept the block."""


_CHECKS = {
    "text": _check_text,
    "image": _check_image,
    "thinking": _check_signed,
    "redacted_thinking": _check_signed,
    "tool_use": _check_call,
    "tool_result": _check_result,
}
