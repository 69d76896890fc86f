"""The model families: how each one's providers encode the same answer."""

from . import anthropic, deepseek, google, mistralai, moonshotai, openai, qwen, xai
from .family import Delta, Detail, Family, Origin, WireCall

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (openai, anthropic, google, xai, deepseek, mistralai, moonshotai, qwen)
}

__all__ = ["FAMILIES", "Delta", "Detail", "Family", "Origin", "WireCall"]
