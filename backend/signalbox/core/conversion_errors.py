"""Sentences about values that do not have the expected type, for users and models."""

import re

from msgspec import ValidationError

# msgspec's message: "Expected `int`, got `str` - at `$.orders[0].count`".
_MESSAGE = re.compile(r"(?P<fault>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_LONGEST = 500


def described(error: ValidationError, inside: str = "") -> tuple[str, str]:
    """Return the dotted path of the invalid field, empty if there is none, and a sentence that names the field.

    `inside` is the path of the value that was converted.
    """
    found = _MESSAGE.fullmatch(str(error)[:_LONGEST])
    assert found is not None  # the expression matches every text
    path = (inside + (found["path"] or "").removeprefix("$")).removeprefix(".").replace("[...]", "[]")
    fault = found["fault"].replace("`", "")
    return path, f"{path}: {fault[:1].lower()}{fault[1:]}" if path else fault
