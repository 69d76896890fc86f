"""Limits the nesting of JSON from clients."""

from signalbox.core.messages import JsonValue

# Deeper nesting takes many times its size in memory, and no client needs it (quirk G6).
MAX_LEVELS = 64


def is_too_deep(value: JsonValue) -> bool:
    """Return whether a value is nested deeper than `MAX_LEVELS`, checked level by level."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_LEVELS + 1):
        inner: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return False
        level = inner
    return True
