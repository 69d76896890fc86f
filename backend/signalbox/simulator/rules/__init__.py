"""What is refused: the shape, what OpenRouter itself says no to, what every host refuses, what one family's hosts do.

A new rule is a function in one of these files and a row in its table, or in `FAMILY_RULES`.
"""

from ..http.incoming import Incoming
from .all_providers import RULES
from .body_shape import check_body
from .by_family import FAMILY_RULES
from .openrouter import ROUTER_RULES

__all__ = ["check", "check_body"]


def check(incoming: Incoming) -> None:
    """Reject what OpenRouter and the providers of the model reject."""
    for rule in (*ROUTER_RULES, *RULES, *FAMILY_RULES.get(incoming.family, ())):
        rule(incoming)
