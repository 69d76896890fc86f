"""Generates values for a JSON schema, taken from a text if it contains fitting ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..json_values import as_list, as_object, as_objects

URL = re.compile(r"https?://[^\s<>\"')\]]+")

_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][\w-]+"
_MAX_DEPTH = 8
_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT1H",
    "email": "someone@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "url": "https://example.org/",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
# Tried in this order against a pattern; if none matches, the value violates the pattern.
_SAMPLES = (
    *_FORMATS.values(),
    "a",
    "A",
    "1",
    "42",
    "12345",
    "abc",
    "ABC",
    "abc123",
    "AB-123",
    "ABC-1234",
    "+15550100",
    "",
)


@dataclass(slots=True)
class Values:
    """Makes the values of one call. Each number of the text is used once, in order; `root` resolves references.

    If an object needs several texts, each name of the text is used once, too: a flight goes from Lisbon to Porto.
    """

    text: str
    root: dict[str, Any] = field(default_factory=dict[str, Any])
    numbers: Iterator[str] = field(init=False)
    names: Iterator[str] = field(init=False, default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        """Find the numbers of the text."""
        self.numbers = iter(re.findall(r"-?\d+(?:\.\d+)?", self.text))

    def fields(self, schema: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        """Make an object of the required properties; nested objects without any get all properties."""
        known = as_object(schema.get("properties"))
        names = [str(name) for name in as_list(schema.get("required"))]
        if depth and not names and depth < _MAX_DEPTH:
            names = list(known)
        names += [name for name in known if name not in names][: max(0, _limit(schema, "minProperties") - len(names))]
        texts = [name for name in names if self._is_text(known.get(name, {}), depth)]
        if len(texts) > 1 and len(found := _names_in(self.text)) > 1:
            self.names = iter(found)
        return {name: self.value(known.get(name, {}), name, depth + 1) for name in names}

    def _is_text(self, unresolved: object, depth: int) -> bool:
        """Whether the value is a text of the question's words: no enumeration, no pattern and no format."""
        schema = self._resolved(as_object(unresolved), depth)
        return _kind(schema) == "string" and not schema.keys() & {"const", "enum", "pattern", "format"}

    def value(self, unresolved: object, name: str, depth: int = 0) -> Any:
        """Make one value; `name` is its property, and the value of a string if the text is empty."""
        schema = self._resolved(as_object(unresolved), depth)
        if "const" in schema:
            return schema["const"]
        if choices := as_list(schema.get("enum")):
            return next((one for one in choices if isinstance(one, str) and _contains(self.text, one)), choices[0])
        match _kind(schema):
            case "integer":
                return int(self._number(schema, 1))
            case "number":
                return float(self._number(schema, 0))
            case "boolean":
                return True
            case "null":
                return None
            case "array":
                return self._array(schema, name, depth)
            case "object":
                return self.fields(schema, depth)
            case _:
                return self._words(schema, name)

    def _resolved(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Resolve references, choose the first alternative, and merge `allOf`."""
        if depth > _MAX_DEPTH + 4:
            return {}
        merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
        parts = [self._referred(str(schema["$ref"]))] if "$ref" in schema else []
        parts += as_objects(schema.get("allOf"))
        parts += as_objects(schema.get("anyOf"))[:1] + as_objects(schema.get("oneOf"))[:1]
        for part in parts:
            plain = self._resolved(part, depth + 1)
            properties = {**as_object(plain.get("properties")), **as_object(merged.get("properties"))}
            required = [*as_list(merged.get("required")), *as_list(plain.get("required"))]
            merged = {**plain, **merged}
            merged |= {"properties": properties} if properties else {}
            merged |= {"required": list(dict.fromkeys(required))} if required else {}
        return merged

    def _referred(self, reference: str) -> dict[str, Any]:
        found: object = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            found = as_object(found).get(step.replace("~1", "/").replace("~0", "~"))
        return as_object(found)

    def _number(self, schema: dict[str, Any], step: int) -> float:
        """Return the next number of the text, moved into the bounds of the schema."""
        given = float(next(self.numbers, "1"))
        low, high = _bounds(schema, step or 0.5)
        wanted = min(max(given, low), high)
        multiple = schema.get("multipleOf") or step
        if multiple:
            wanted = -(-wanted // multiple) * multiple
            wanted = wanted if wanted <= high else high // multiple * multiple
        return wanted

    def _array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        fixed = [self.value(one, name, depth + 1) for one in as_list(schema.get("prefixItems"))]
        items = as_object(schema.get("items"))
        fewest = max(_limit(schema, "minItems"), len(fixed), 1 if depth < _MAX_DEPTH else 0)
        made = [*fixed, *(self.value(items, name, depth + 1) for _ in range(len(fixed), fewest))]
        if schema.get("uniqueItems"):
            made = _distinct(made, as_list(items.get("enum")))
        return made[: _limit(schema, "maxItems", len(made))]

    def _words(self, schema: dict[str, Any], name: str) -> str:
        if pattern := schema.get("pattern"):
            return next(
                (one for one in (self._example(name), *_SAMPLES) if re.search(pattern, one)), self._example(name)
            )
        if schema.get("format") in _FORMATS and (name != "url" or not URL.search(self.text)):
            return _FORMATS[schema["format"]]
        words = (None if name == "url" else next(self.names, None)) or self._example(name)
        longest = _limit(schema, "maxLength", len(words))
        return words[:longest].ljust(_limit(schema, "minLength"), "x")

    def _example(self, name: str) -> str:
        """Return the text's URL, quotation, place or beginning."""
        text = self.text
        if name == "url" and (url := URL.search(text)):
            return url.group().rstrip(".,;!?")
        quoted = re.search(r"[\"“']([^\"”']{2,})[\"”']", text)
        place = re.search(r"\b(?:in|for|of|at|about)\s+((?:[A-Z][\w-]*[ ,]*)+)", text)
        found = quoted or place
        return found.group(1).strip(" ,.?!") if found else text.strip()[:120] or name


def _names_in(text: str) -> list[str]:
    """Return the distinct quotations of a text, or else its capitalised words that begin no sentence, in order."""
    quoted = re.findall(r"(?<!\w)[\"“']([^\"”']{2,})[\"”'](?!\w)", text)
    if len(found := list(dict.fromkeys(quoted))) > 1:
        return found
    words = re.findall(rf"(?<![.!?]\s)(?<=[\s\"“'(])({_CAPITALISED}(?: {_CAPITALISED})*)", text)
    return list(dict.fromkeys(words))


def _kind(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return next((str(one) for one in as_list(schema["type"]) if one != "null"), "null")
    if kind is not None:
        return str(kind)
    hints = {"properties": "object", "items": "array", "prefixItems": "array", "minimum": "number", "maximum": "number"}
    return next((hinted for word, hinted in hints.items() if word in schema), "string")


def _bounds(schema: dict[str, Any], step: float) -> tuple[float, float]:
    """Return the smallest and the largest number; an exclusive bound is moved by a step."""
    low = max(schema.get("minimum", float("-inf")), schema.get("exclusiveMinimum", float("-inf")) + step)
    high = min(schema.get("maximum", float("inf")), schema.get("exclusiveMaximum", float("inf")) - step)
    return low, max(low, high)


def _limit(schema: dict[str, Any], word: str, otherwise: int = 0) -> int:
    limit = schema.get(word)
    return int(limit) if isinstance(limit, int | float) else otherwise


def _distinct(values: list[Any], choices: list[Any]) -> list[Any]:
    """Make equal values differ: by the next choice, another number, or a number after the text."""
    found: list[Any] = []
    for place, value in enumerate(values):
        other = value
        if value in found:
            left = [choice for choice in choices if choice not in found]
            match value:
                case _ if left:
                    other = left[0]
                case bool():
                    other = not value
                case int() | float():
                    other = value + place
                case str():
                    other = f"{value} {place + 1}"
                case _:
                    continue
        found.append(other)
    return found


def _contains(text: str, word: str) -> bool:
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None
