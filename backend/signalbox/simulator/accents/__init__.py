"""The accents by family: how providers differ in encoding the same answer."""

from . import anthropic, deepseek, google, mistralai, moonshotai, openai, qwen, xai
from .base import Accent, Delta, Detail, Maker, WireCall

ACCENTS: dict[str, Accent] = {
    module.ACCENT.family: module.ACCENT
    for module in (openai, anthropic, google, xai, deepseek, mistralai, moonshotai, qwen)
}

__all__ = ["ACCENTS", "Accent", "Delta", "Detail", "Maker", "WireCall"]
