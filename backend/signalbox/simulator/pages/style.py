"""The style sheet of a simulated page."""

from .looks import Hero, Look

_BASE = """
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--ink); font: 400 var(--size)/1.6 var(--font); }
    h1, h2, h3 { margin: 0 0 0.4em; color: var(--heading); font-family: var(--heading-font); line-height: 1.15; }
    h1 { font-size: clamp(2.2rem, 6vw, 3.6rem); letter-spacing: -0.02em; text-wrap: balance; }
    h2 { font-size: 1.6rem; }
    p { margin: 0 0 1em; max-width: 62ch; }
    a { color: inherit; }
    img { max-width: 100%; border-radius: var(--radius); }
    .top, main, footer { width: min(1080px, 100% - 40px); margin-inline: auto; }
    .top { display: flex; gap: 24px; align-items: center; padding: 22px 0; }
    .top strong { margin-right: auto; color: var(--heading); font-family: var(--heading-font); font-size: 1.15rem; }
    .top a { color: var(--soft); text-decoration: none; }
    .top a:hover { color: var(--accent); }
    section { padding: 40px 0; }
    .lead { color: var(--soft); font-size: 1.2rem; }
    .button, button { display: inline-block; padding: 0.75em 1.5em; border: 0; border-radius: var(--radius);
      background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none;
      cursor: pointer; transition: translate 0.15s, filter 0.15s; }
    .button:hover, button:hover { translate: 0 -2px; filter: brightness(1.08); }
    .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 20px; }
    .card { padding: 24px; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
    .card p { margin: 0; color: var(--soft); }
    input { width: 100%; padding: 0.75em 1em; border: 1px solid var(--line); border-radius: var(--radius);
      background: var(--card); color: var(--ink); font: inherit; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }"""

_HEROES: dict[Hero, str] = {
    "centered": """
    .hero { padding: 72px 0; text-align: center; }
    .hero p { margin-inline: auto; }
    .art { display: none; }""",
    "split": """
    .hero { display: grid; grid-template-columns: 1.2fr 1fr; gap: 40px; align-items: center; padding: 64px 0; }
    .art { aspect-ratio: 4 / 3; border-radius: var(--radius);
      background: radial-gradient(circle at 30% 30%, var(--card), transparent 55%), var(--accent); }
    @media (max-width: 720px) { .hero { grid-template-columns: 1fr; } }""",
    "banner": """
    .hero { margin: 20px 0; padding: 88px 40px; border-radius: var(--radius);
      background: linear-gradient(135deg, var(--card), color-mix(in srgb, var(--accent) 45%, var(--card))); }
    .art { display: none; }""",
    "framed": """
    .hero { margin: 24px 0; padding: 56px 40px; border: 1px solid var(--line); border-left: 6px solid var(--accent);
      border-radius: var(--radius); background: var(--card); }
    .art { display: none; }""",
}


def style_of(look: Look, rules: str) -> str:
    """Return the style sheet; `rules` are those of the kind of page."""
    variables = "\n".join(f"      {name}: {value};" for name, value in look.variables().items())
    root = f"    :root {{\n      color-scheme: {look.scheme};\n{variables}\n    }}"
    return f"{root}{_BASE}{_HEROES[look.hero]}{rules}"
