"""People who sign in: their owner, their name, and the rules that say what they may do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

# No API token's id contains a colon, so no person can own what belongs to a token.
USER_PREFIX = "user:"
_ID_LENGTH = 32
_LONGEST_NAME = 200
MOST_GROUPS = 50
_VERIFIED = (True, "true")
_NAMES = ("name", "preferred_username", "email", "sub")


@dataclass(frozen=True, slots=True)
class Person:
    """A person who is signed in. `groups` are those that the identity provider reports, `email` is verified by it."""

    owner: str
    name: str
    is_operator: bool = False
    groups: tuple[str, ...] = ()
    email: str = ""

    @property
    def label(self) -> str:
        """The name with the email address, for the operator."""
        return f"{self.name} <{self.email}>" if self.email and self.email != self.name else self.name


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """A rule such as `groups=operators`: the claim has this value, or is a list that contains it."""

    claim: str
    value: str

    def fits(self, claims: Mapping[str, object]) -> bool:
        """Return whether the claims fit. An email address counts only if the provider has verified it."""
        found = values_of(claims, self.claim)
        if self.claim == "email":
            is_verified = claims.get("email_verified") in _VERIFIED
            return is_verified and self.value.lower() in [one.lower() for one in found]
        return self.value in found


def rules_of(items: Iterable[str]) -> tuple[ClaimRule, ...]:
    """Return rules from `CLAIM=VALUE` items; an email address alone stands for `email=ADDRESS`. Raises ValueError."""
    return tuple(_rule_of(item) for item in items)


def _rule_of(item: str) -> ClaimRule:
    claim, equals, value = (part.strip() for part in item.partition("="))
    if not equals and "@" in claim:
        return ClaimRule("email", claim)
    if not (claim and value):
        raise ValueError(
            f"takes rules like groups=operators or email=ada@example.org, separated by commas, not {item!r}"
        )
    return ClaimRule(claim, value)


def any_fits(rules: Sequence[ClaimRule], claims: Mapping[str, object]) -> bool:
    """Return whether the claims fit one of the rules."""
    return any(rule.fits(claims) for rule in rules)


def values_of(claims: Mapping[str, object], name: str) -> list[str]:
    """Return the values of a claim; `realm_access.roles` is the field `roles` of the claim `realm_access`."""
    found = claims.get(name)
    if found is None:
        found = _inside(claims, name.split("."))
    values = cast(list[object], found) if isinstance(found, list) else [found]
    return [one if isinstance(one, str) else str(one).lower() for one in values if isinstance(one, str | int)]


def _inside(claims: object, path: Sequence[str]) -> object:
    """Return a nested field, None if it does not exist."""
    for part in path:
        claims = cast(dict[str, object], claims).get(part) if isinstance(claims, Mapping) else None
    return claims


def owner_of(issuer: str, subject: str) -> str:
    """Return the owner of a person at an identity provider; name and email address may change without effect."""
    return USER_PREFIX + sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:_ID_LENGTH]


def name_of(claims: Mapping[str, object]) -> str:
    """Return the name to show for a person."""
    return next((text for name in _NAMES if (text := _printable(claims.get(name)))), "")


def email_of(claims: Mapping[str, object]) -> str:
    """Return the email address that the provider has verified, else an empty text."""
    return _printable(claims.get("email")) if claims.get("email_verified") in _VERIFIED else ""


def _printable(text: object) -> str:
    return "".join(sign for sign in text if sign.isprintable()).strip()[:_LONGEST_NAME] if isinstance(text, str) else ""


def groups_of(claims: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return the groups in a claim, as many as a session stores."""
    return tuple(values_of(claims, name)[:MOST_GROUPS])
