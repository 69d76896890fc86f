"""How deep JSON from a client may be nested."""

from signalbox.core.messages import JsonValue

# Deeper nesting costs many times its size in memory and no client needs it (quirk G6).
MOST_LEVELS = 64


def is_too_deep(value: JsonValue) -> bool:
    """Return whether a value is nested deeper than `MOST_LEVELS`, checked level by level."""
    level: list[JsonValue] = [value]
    for _ in range(MOST_LEVELS + 1):
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
