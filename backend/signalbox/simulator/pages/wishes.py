"""Finds in a message which page it asks for."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["landing", "dashboard", "tasks", "form"]

_NOUN = (
    r"(?:web\s?)?(?:pages?|sites?)|landing|homepage|portfolio|apps?|applications?|components?|dashboards?|forms?|"
    r"screens?|ui|mock-?ups?|html|layouts?|to-?do lists?"
)
_VERB = r"build|create|make|design|draw|write|generate|code|turn|recreate|rebuild|convert|implement|need|want|like"
_ASKS = re.compile(rf"\b(?:{_VERB})\b.{{0,120}}?\b(?:{_NOUN})\b", re.IGNORECASE | re.DOTALL)
_ASKS_ANEW = re.compile(
    rf"\b(?:build|create|design|write|generate|make|code)\b\s+(?:me\s+)?(?:a|an|another|a new)\s+(?:[\w-]+\s+){{0,4}}?"
    rf"(?:{_NOUN})\b|\bstart (?:over|again)\b|\bnew page\b",
    re.IGNORECASE,
)
_SMALL_CHANGE = re.compile(r"^\W*(?:please\s+)?(?:make|turn)\s+(?:the|it|this|its|everything|all)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?:called|named|titled|for)\s+[\"“'‘](.{2,40}?)[\"”'’]|[\"“](.{2,40}?)[\"”]")
_TOPIC = re.compile(
    r"\b(?:for|about|of|showing|selling|that shows|that sells|to sell)\s+(?:an?|the|my|our|your)?\s*"
    r"([\w'’ -]{3,60}?)(?=[.,;:!?\n(]|$|\s(?:with|using|in|that|which|and|called|named|titled|on|as)\b)",
    re.IGNORECASE,
)
HTML_PATH = re.compile(r"\b([\w-]{1,40}(?:/[\w-]{1,40}){0,3}\.html)\b")
_IMAGES = re.compile(r"\b(?:images?|photos?|pictures?|illustrations?|logo)\b", re.IGNORECASE)
_FROM_PICTURE = re.compile(
    r"\b(?:this|the|attached|from)\s+(?:attached\s+)?(?:images?|pictures?|screenshots?|mock-?ups?|photos?)\b",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("dashboard", re.compile(r"\b(?:dashboard|analytics|statistics|metrics|admin)\b", re.IGNORECASE)),
    ("tasks", re.compile(r"\b(?:to-?do|tasks?|checklist|shopping list)\b", re.IGNORECASE)),
    ("form", re.compile(r"\b(?:log-?in|sign-?(?:in|up)|register|registration|contact form|form)\b", re.IGNORECASE)),
)
_NAMES: dict[Kind, str] = {"landing": "Lighthouse", "dashboard": "Overview", "tasks": "My tasks", "form": "Welcome"}
_THINGS: dict[Kind, str] = {
    "landing": "a landing page",
    "dashboard": "a dashboard",
    "tasks": "a to-do list",
    "form": "a form",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """The page that a message asks for. `topic` may be empty; `from_picture`: its layout is that of a picture."""

    kind: Kind
    name: str
    topic: str
    path: str
    wants_images: bool = False
    from_picture: bool = False

    @property
    def thing(self) -> str:
        """Return the page in words, such as "a landing page for a bakery"."""
        return f"{_THINGS[self.kind]} about {self.topic}" if self.topic else _THINGS[self.kind]


def asks_for_page(question: str, *, has_picture: bool, has_page: bool) -> bool:
    """Return whether a message asks for a page; if one exists, only for another one and not for a change."""
    text = question[:2_000]
    if has_page:
        return bool(_ASKS_ANEW.search(text)) and not _SMALL_CHANGE.match(text)
    return has_picture or bool(_ASKS.search(text))


def wish_of(question: str, *, has_picture: bool) -> Wish:
    """Return the page that a message asks for."""
    text = question[:2_000]
    kinds: list[Kind] = [kind for kind, pattern in _KINDS if pattern.search(text)]
    kind = kinds[0] if kinds else "landing"
    topic = _topic(text)
    quoted = _NAMED.search(text)
    name = (quoted[1] or quoted[2]) if quoted else topic[:1].upper() + topic[1:]
    path = HTML_PATH.search(text)
    drawn = _IMAGES.search(_FROM_PICTURE.sub("", text))
    return Wish(kind, name or _NAMES[kind], topic, path[1] if path else "index.html", drawn is not None, has_picture)


def _topic(text: str) -> str:
    found = _TOPIC.search(_FROM_PICTURE.sub("", text))
    words = found[1].strip(" '’-") if found else ""
    return "" if words.lower() in ("me", "us", "it", "this", "that", "page", "html") else words
