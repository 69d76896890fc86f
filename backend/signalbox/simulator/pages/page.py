"""Writes a whole simulated page."""

from dataclasses import dataclass
from html import escape

from .bodies import body_of
from .looks import Look
from .style import style_of
from .wishes import Wish
from .words import words_for


@dataclass(frozen=True, slots=True)
class Page:
    """A page, and what it contains in words."""

    html: str
    parts: str


def page_of(wish: Wish, look: Look, images: tuple[str, ...] = ()) -> Page:
    """Return the page that is wished for, in this look; `images` are paths of files."""
    body = body_of(wish, words_for(wish.topic), images)
    links = "\n".join(f'    <a href="{target}">{label}</a>' for label, target in body.links)
    html = f"""<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{escape(wish.name)}</title>
  <style>
{style_of(look, body.rules)}
  </style>
</head>
<body>
  <header class="top">
    <strong>{escape(wish.name)}</strong>
{links}
  </header>
  <main>
{body.html}
  </main>
  <script>{body.script}
  </script>
</body>
</html>
"""
    return Page(html, body.parts)
