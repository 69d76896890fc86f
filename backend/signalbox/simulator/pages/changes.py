"""Turns a wish such as "make the heading blue" into exact edits of a page."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from ..model.tool_results import tidy
from .colours import COLOURS, colour_in, is_dark, part_in
from .looks import DARK, LIGHT, LOOKS

Replacement = tuple[str, str]

CHANGE = re.compile(
    r"\b(?:make|change|add|remove|delete|use|set|turn|switch|replace|swap|rename|call (?:it|this|the)|dark|light mode|"
    r"bigger|larger|smaller|rounder|insert|move|improve|try|more|less|put|give)\b",
    re.IGNORECASE,
)
_REMOVED = re.compile(r"\b(?:remove|delete|drop|without)\b(?:\s+the)?\s+(\w+)", re.IGNORECASE)
_ADDED = re.compile(
    r"\b(?:add|insert|include|put|give (?:it|the page))\b\s+(?:an?\s+|some\s+|the\s+)?(.{3,80})",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(
    r"\b(?:title|heading|headline|name)\b.{0,20}?\b(?:to|into|as|say)\s+[\"“'‘]?(.{2,60}?)[\"”'’]?[.!?]*\s*$"
    r"|\b(?:call|name|rename)\s+(?:it|this|the page)\s+(?:to\s+)?[\"“'‘]?(.{2,60}?)[\"”'’]?[.!?]*\s*$",
    re.IGNORECASE,
)
_CLASSES = {"quote": "quote", "features": "features", "form": "join", "gallery": "gallery", "numbers": "numbers"}
_FOOTER = """
  <footer class="footer">
    <p>© <span id="year"></span> {name}. Made with care.</p>
    <nav aria-label="Footer"><a href="#">Imprint</a> · <a href="#">Privacy</a> · <a href="#">Contact</a></nav>
  </footer>"""
_FOOTER_RULE = """    .footer { display: flex; flex-wrap: wrap; gap: 12px; justify-content: space-between;
      padding: 32px 0; border-top: 1px solid var(--line); color: var(--soft); }"""


@dataclass(frozen=True, slots=True)
class Change:
    """Exact replacements of a file, each of which occurs once, and what they do in words."""

    edits: tuple[Replacement, ...]
    words: str


def change_of(question: str, text: str, images: tuple[str, ...] = ()) -> Change | None:
    """Return the change of a page that a message asks for; None if it would change nothing."""
    ways: tuple[Callable[[str, str], Change | None], ...] = (_scheme, _title, _colour, _size, _removal, _footer)
    if images:
        return _with_images(text, images)
    for way in ways:
        if (found := way(question, text)) is not None:
            return _usable(found, text)
    return _usable(_section(question, text) if _ADDED.search(question) else _other_look(text), text)


def _usable(change: Change, text: str) -> Change | None:
    """Return the change without edits that do nothing or are not unique, None if none is left."""
    edits = tuple((old, new) for old, new in change.edits if old != new and text.count(old) == 1)
    return Change(edits, change.words) if edits else None


def with_colours(text: str, colours: dict[str, str]) -> Iterator[Replacement]:
    """Yield the replacements that give variables of a page other values."""
    for name, value in colours.items():
        if found := re.search(rf"{name}: [^;\n]+;", text):
            yield found[0], f"{name}: {value};"


def rule_added(text: str, rule: str) -> Replacement:
    """Return the replacement that adds a style rule at the end of the style sheet, or with a new one."""
    if text.count("</style>") == 1:
        end = re.search(r"[ \t]*</style>", text)
        return (end[0], f"{rule}\n{end[0]}") if end else ("", "")
    return "</head>", f"<style>\n{rule}\n</style>\n</head>"


def _scheme(question: str, text: str) -> Change | None:
    found = re.search(r"\b(dark|light|night)\b(?:\s+(?:mode|theme|version|page|background))?", question, re.IGNORECASE)
    if found is None or re.search(r"\b(?:dark|light)\s+(?:red|blue|green|gr[ae]y)\b", question, re.IGNORECASE):
        return None
    is_dark = found[1].lower() != "light"
    name = "dark" if is_dark else "light"
    edits = [*with_colours(text, {"color-scheme": name, **(DARK if is_dark else LIGHT)})]
    if not edits:
        rule = (
            "body { background: #14151a; color: #e7e8ec; }" if is_dark else "body { background: #fafafa; color: #222; }"
        )
        edits = [rule_added(text, f"    {rule}")]
    return Change(tuple(edits), f"The page now has a {name} background")


def _title(question: str, text: str) -> Change | None:
    found = _TITLE.search(question)
    wanted = next((one for one in found.groups() if one), "").strip() if found else ""
    heading = re.search(r"<h1[^>]*>.*?</h1>", text, re.DOTALL)
    if not wanted or heading is None or wanted.lower() in COLOURS or wanted.startswith("#"):
        return None
    start = heading[0].partition(">")[0]
    edits = [(heading[0], f"{start}>{escape(wanted)}</h1>")]
    if title := re.search(r"<title>.*?</title>", text, re.DOTALL):
        edits.append((title[0], f"<title>{escape(wanted)}</title>"))
    return Change(tuple(edits), f"The heading is now “{wanted}”")


def _colour(question: str, text: str) -> Change | None:
    if not (colour := colour_in(question)):
        return None
    variable, rule = part_in(question)
    values = {variable: colour}
    if variable == "--accent":
        values["--on-accent"] = "#ffffff" if is_dark(colour) else "#1a1a1a"
    if variable == "--page":
        values = {**(DARK if is_dark(colour) else LIGHT), **values}
    edits = [*with_colours(text, values)] or [rule_added(text, "    " + rule.format(colour))]
    return Change(tuple(edits), f"The {_PART_WORDS[variable]} now {colour}")


_PART_WORDS = {
    "--heading": "headings are",
    "--page": "background is",
    "--card": "cards are",
    "--accent": "buttons and links are",
    "--ink": "text is",
}


def _size(question: str, text: str) -> Change | None:
    if re.search(r"\b(?:round|rounder|rounded)\b", question, re.IGNORECASE):
        return Change((*with_colours(text, {"--radius": "28px"}),), "The corners are rounder now")
    if re.search(r"\b(?:square|sharp|angular)\b", question, re.IGNORECASE):
        return Change((*with_colours(text, {"--radius": "0"}),), "The corners are square now")
    found = re.search(r"\b(bigger|larger|smaller)\b", question, re.IGNORECASE)
    if found is None:
        return None
    size = "15px" if found[1].lower() == "smaller" else "20px"
    edits = [*with_colours(text, {"--size": size})] or [rule_added(text, f"    body {{ font-size: {size}; }}")]
    return Change(tuple(edits), f"The text is {found[1].lower()} now")


def _removal(question: str, text: str) -> Change | None:
    found = _REMOVED.search(question)
    name = found[1].lower() if found else ""
    if not name:
        return None
    if name == "footer":
        section = re.search(r"\s*<footer.*?</footer>", text, re.DOTALL)
    else:
        kind = _CLASSES.get(name, name)
        section = re.search(rf'\s*<section class="{re.escape(kind)}\b.*?</section>', text, re.DOTALL)
    return Change(((section[0], ""),), f"The {name} is gone") if section else None


def _footer(question: str, text: str) -> Change | None:
    if not re.search(r"\bfooter\b", question, re.IGNORECASE) or "<footer" in text:
        return None
    name = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    html = _FOOTER.replace("{name}", name[1] if name else "This page")
    script = '  <script>document.getElementById("year").textContent = new Date().getFullYear();</script>\n</body>'
    end = "</main>" if text.count("</main>") == 1 else "</body>"
    if end == "</body>":
        return Change(((end, f"{html}\n{script}"), rule_added(text, _FOOTER_RULE)), "The page has a footer now")
    edits = ((end, f"{end}{html}"), ("</body>", script), rule_added(text, _FOOTER_RULE))
    return Change(edits, "The page has a footer now, with the current year")


def _section(question: str, text: str) -> Change:
    asked = _ADDED.search(question)
    title = tidy(re.split(r"[.,;!?\n]| to the page| at the", asked[1])[0] if asked else "More", 60).strip()
    title = title[:1].upper() + title[1:]
    html = f"""
    <section class="card">
      <h2>{escape(title)}</h2>
      <p>This part is new. Replace these words with your own, and ask for the next change when you are ready.</p>
    </section>"""
    end = "</main>" if text.count("</main>") == 1 else "</body>"
    indent = re.search(rf"\s*{end}", text)
    before = indent[0] if indent else end
    return Change(((before, f"{html}{before}"),), f"The page has a new part, “{title}”")


def _with_images(text: str, images: tuple[str, ...]) -> Change | None:
    shown = "\n".join(f'      <img src="{escape(path)}" alt="" loading="lazy">' for path in images)
    end = "</main>" if text.count("</main>") == 1 else "</body>"
    indent = re.search(rf"\s*{end}", text)
    before = indent[0] if indent else end
    html = f'\n    <section class="gallery cards">\n{shown}\n    </section>'
    return _usable(Change(((before, f"{html}{before}"),), "The page shows the new images"), text)


def _other_look(text: str) -> Change:
    """Return the colours of another look, for a wish that names no part: "make it more modern"."""
    used = next((at for at, look in enumerate(LOOKS) if f"--accent: {look.accent};" in text), 0)
    look = LOOKS[(used + 1) % len(LOOKS)]
    values = {"color-scheme": look.scheme, **look.colours(), "--radius": look.radius, "--font": look.font}
    edits = [*with_colours(text, values)] or [rule_added(text, "    body { font-family: system-ui, sans-serif; }")]
    return Change(tuple(edits), f"The page now has {look.style}")
