"""JSON as Google's APIs write it."""

import json


def compact(value: object) -> str:
    """Return one line, with a space after colons and none after commas."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ": "))


def pretty(value: object) -> bytes:
    """Return indented JSON with a final newline, as bodies that are not streamed."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
