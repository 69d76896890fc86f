"""Output items as the stream announces them, before their content."""

from typing import Any

Item = dict[str, Any]


def announced(item: Item) -> Item:
    """Return an item as `output_item.added` has it: without content, and with reasoning that is not yet complete."""
    match item["type"]:
        case "reasoning":
            encrypted = {"encrypted_content": item["encrypted_content"][:180]} if "encrypted_content" in item else {}
            content: Item = {"content": [], "status": "in_progress"} if "content" in item else {}
            return {**item, **encrypted, **content, "summary": []}
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "web_search_call":
            return {**item, "status": "in_progress", "action": {"type": "search"}}
        case "unheard_of":
            return item
        case _:
            return {**item, "status": "in_progress", "arguments": ""}
