"""Checks requests as OpenRouter and the providers do, and rejects the invalid ones.

A new rule is a function in a file of this folder, and an entry in the tuple of that file or in `FAMILY_RULES`.
"""

from ..http.incoming import Incoming
from .all_providers import RULES
from .body_shape import check_body
from .by_family import FAMILY_RULES
from .openrouter import ROUTER_RULES

__all__ = ["check", "check_body"]


def check(incoming: Incoming) -> None:
    """Raise Rejected if OpenRouter or the model's providers reject the request."""
    for rule in (*ROUTER_RULES, *RULES, *FAMILY_RULES.get(incoming.family, ())):
        rule(incoming)
