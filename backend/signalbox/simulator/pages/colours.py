"""Colours and parts of a page that a message names."""

import re

# Shades that are easy to read, rather than the pure colours of CSS.
COLOURS = {
    "red": "#c62f2f",
    "blue": "#1d4ed8",
    "navy": "#1e3a6e",
    "green": "#15803d",
    "orange": "#d9650b",
    "yellow": "#d4a106",
    "purple": "#7c3aed",
    "violet": "#7c3aed",
    "pink": "#db2777",
    "teal": "#0f766e",
    "turquoise": "#0d9488",
    "brown": "#7a4a21",
    "gold": "#b7860b",
    "black": "#111111",
    "white": "#ffffff",
    "gray": "#6b7280",
    "grey": "#6b7280",
    "beige": "#f3eadb",
    "cream": "#fbf5e9",
    "mint": "#c9efe0",
    "lavender": "#e3dbfa",
}
# part of a page → its variable, and the rule for a page that has no such variable
PARTS: tuple[tuple[str, str, str], ...] = (
    (r"headings?|headlines?|titles?|h1|headers?", "--heading", "h1, h2, h3 {{ color: {}; }}"),
    (r"background|page|bg", "--page", "body {{ background: {}; }}"),
    (r"cards?|boxes", "--card", ".card {{ background: {}; }}"),
    (r"buttons?|accents?|links?|colou?rs?|theme", "--accent", "a, button {{ color: {}; }}"),
    (r"text|font|body|words", "--ink", "body {{ color: {}; }}"),
)
_COLOUR = re.compile(rf"#[0-9a-f]{{6}}\b|#[0-9a-f]{{3}}\b|\b(?:{'|'.join(COLOURS)})\b", re.IGNORECASE)


def colour_in(text: str) -> str:
    """Return the colour that a text names, or ""."""
    found = _COLOUR.search(text)
    return COLOURS.get(found[0].lower(), found[0]) if found else ""


def is_dark(colour: str) -> bool:
    """Return whether a colour such as `#1d4ed8` or `#fff` needs light text on it."""
    digits = colour.removeprefix("#")
    pairs = [digits[at : at + 2] for at in (0, 2, 4)] if len(digits) == 6 else [digit * 2 for digit in digits]
    red, green, blue = (int(pair, 16) for pair in pairs)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 150


def part_in(text: str) -> tuple[str, str]:
    """Return the variable and the rule of the first part that a text names; a colour alone is the accent's."""
    found = ((re.search(rf"\b(?:{part[0]})\b", text, re.IGNORECASE), part) for part in PARTS)
    places = [(match.start(), part) for match, part in found if match]
    part = min(places)[1] if places else PARTS[3]
    return part[1], part[2]
