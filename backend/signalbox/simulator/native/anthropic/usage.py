"""The tokens of a prompt, and what the prompt cache saves of them."""

from typing import Any

import orjson

from ...completion import estimate_tokens
from ...json_values import as_list, as_object, as_objects
from ..prompt_cache import Block, CacheUse, PromptCache

MARK = "cache_control"


def prompt_tokens(body: dict[str, Any]) -> int:
    """Return the tokens of the tools, the system prompt and the messages."""
    return sum(estimate_tokens(block.text.decode()) for block in prompt_blocks(body))


def cache_use(body: dict[str, Any], cache: PromptCache) -> CacheUse:
    """Look up the prompt in the cache, and store it up to its breakpoints."""
    return cache.use(str(body["model"]), prompt_blocks(body))


def prompt_blocks(body: dict[str, Any]) -> list[Block]:
    """Return the blocks of a prompt in the order of the cache: tools, system prompt, messages.

    A change of `tool_choice` or `thinking` invalidates the messages, but not what is before them.
    """
    blocks = [_block("tool", tool) for tool in as_objects(body.get("tools"))]
    blocks += [_block("system", block) for block in content_blocks(body.get("system"))]
    choice = as_object(body.get("tool_choice"))
    blocks.append(_block("options", {"tool_choice": choice, "thinking": body.get("thinking")}))
    for message in as_objects(body.get("messages")):
        role = str(message.get("role"))
        blocks += [_block(role, block) for block in content_blocks(message.get("content"))]
    if body.get(MARK) and blocks:
        blocks[-1] = Block(blocks[-1].text, breakpoint=True)
    return blocks


def breakpoints(body: dict[str, Any]) -> int:
    """Return the number of cache breakpoints that a request sets itself."""
    return sum(block.breakpoint for block in prompt_blocks({**body, MARK: None}))


def content_blocks(content: object) -> list[dict[str, Any]]:
    """Return content as blocks; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return as_objects(as_list(content))


def _block(role: str, block: dict[str, Any]) -> Block:
    bare = {key: value for key, value in block.items() if key != MARK}
    return Block(orjson.dumps([role, bare]), breakpoint=block.get(MARK) is not None)
