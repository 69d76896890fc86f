"""How a simulated page looks: colours, fonts and the shape of its first section."""

from dataclasses import dataclass
from typing import Literal

Hero = Literal["centered", "split", "banner", "framed"]

_SANS = '"Inter", "Segoe UI", system-ui, sans-serif'
_SERIF = '"Iowan Old Style", Georgia, "Times New Roman", serif'
_MONO = '"JetBrains Mono", ui-monospace, Menlo, monospace'
_ROUND = '"Nunito", "Avenir Next", system-ui, sans-serif'


@dataclass(frozen=True, slots=True)
class Look:
    """A look. `style` describes it in a sentence; the colours are the variables of the page's style sheet."""

    style: str
    hero: Hero
    scheme: Literal["light", "dark"]
    page: str
    card: str
    ink: str
    soft: str
    heading: str
    accent: str
    on_accent: str
    line: str
    radius: str
    font: str
    heading_font: str

    def variables(self) -> dict[str, str]:
        """Return the variables of the style sheet in their order."""
        return {
            **self.colours(),
            "--radius": self.radius,
            "--size": "17px",
            "--font": self.font,
            "--heading-font": self.heading_font,
        }

    def colours(self) -> dict[str, str]:
        """Return the colours among the variables."""
        return {
            "--page": self.page,
            "--card": self.card,
            "--ink": self.ink,
            "--soft": self.soft,
            "--heading": self.heading,
            "--accent": self.accent,
            "--on-accent": self.on_accent,
            "--line": self.line,
        }


LOOKS = (
    Look(
        *("a warm style with soft corners", "centered", "light", "#fdf8f1", "#ffffff", "#33291f", "#7d6f61"),
        *("#2b2118", "#b4532a", "#ffffff", "#eaddcb", "18px", _ROUND, _SERIF),
    ),
    Look(
        *("a clear style in blue and white", "split", "light", "#f5f8fd", "#ffffff", "#1b2536", "#5c6b82"),
        *("#12203a", "#2457d6", "#ffffff", "#dbe4f3", "10px", _SANS, _SANS),
    ),
    Look(
        *("an editorial style with fine lines", "framed", "light", "#fbfbf8", "#fffffe", "#1f241f", "#656d64"),
        *("#17301f", "#2f6f4f", "#ffffff", "#d9dfd6", "2px", _SERIF, _SERIF),
    ),
    Look(
        *("a bold style on a dark page", "banner", "dark", "#12131a", "#1c1e29", "#e8e9f2", "#a0a4b8"),
        *("#ffffff", "#f2a33c", "#1a1206", "#2e3142", "14px", _SANS, _MONO),
    ),
    Look(
        *("a playful style in violet", "split", "light", "#faf7ff", "#ffffff", "#2b2140", "#75688f"),
        *("#3c1a78", "#8b3fe0", "#ffffff", "#e6dbf7", "24px", _ROUND, _ROUND),
    ),
    Look(
        *("a calm style in teal", "centered", "light", "#f2faf9", "#ffffff", "#17302e", "#557370"),
        *("#0c3a37", "#0f8379", "#ffffff", "#cfe5e2", "8px", _SANS, _SERIF),
    ),
    Look(
        *("a night style in deep blue", "framed", "dark", "#0d1626", "#142036", "#dfe7f5", "#93a3bf"),
        *("#f4f8ff", "#5aa9ff", "#06182d", "#24344f", "12px", _SANS, _SANS),
    ),
)

DARK = {
    "--page": "#14151a",
    "--card": "#1e2027",
    "--ink": "#e7e8ec",
    "--soft": "#a2a6b3",
    "--heading": "#ffffff",
    "--line": "#31343e",
}
LIGHT = {
    "--page": "#fafafa",
    "--card": "#ffffff",
    "--ink": "#24262b",
    "--soft": "#666b76",
    "--heading": "#14161a",
    "--line": "#e2e4e9",
}
# Starting points of the families, so that models that answer the same question draw different pages.
_FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")


def look_for(family: str, before: int) -> Look:
    """Return the look for a page. `before`: how many pages were written for the same question; variants differ."""
    start = _FAMILIES.index(family) if family in _FAMILIES else 0
    return LOOKS[(start + before) % len(LOOKS)]
