"""People whom a trusted proxy has signed in: the proxy names them in headers."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from starlette.types import Scope

from signalbox.app.access import Caller
from signalbox.app.asgi.raw_headers import PEER
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.security.people import MOST_GROUPS, USER_PREFIX, ClaimRule, any_fits

Network: TypeAlias = IPv4Network | IPv6Network
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class ProxyUsers:
    """Identifies callers by headers of a trusted proxy; `email` and `groups` are names of optional headers."""

    user: str
    email: str | None
    groups: str | None
    operators: Sequence[ClaimRule]
    trusted: Sequence[Network]

    async def caller_of(self, scope: Scope) -> Caller:
        """Return the caller of a request; raises RequestError UNAUTHORIZED."""
        user = self._header(scope, self.user)
        if user is None:
            raise RequestError(
                Code.UNAUTHORIZED, f"The proxy has not signed you in: the header {self.user} is missing."
            )
        if not self._is_trusted(scope):
            words = f"The header {self.user} is accepted only from the addresses in SIGNALBOX_TRUSTED_PROXIES."
            raise RequestError(Code.UNAUTHORIZED, words, self.user)
        if not (0 < len(user) <= _LONGEST_ID and user.isprintable()):
            words = f"The header {self.user} must have 1 to {_LONGEST_ID} printable characters."
            raise RequestError(Code.UNAUTHORIZED, words, self.user)
        email, groups = self._header(scope, self.email), self._header(scope, self.groups) or ""
        names = [one for one in (part.strip() for part in groups.split(",")) if one]
        claims = {"user": user, "email": email or "", "email_verified": True, "groups": names}
        is_operator = any_fits(self.operators, claims)
        return Caller(f"{USER_PREFIX}{user}", is_operator, user, claimed=tuple(names[:MOST_GROUPS]))

    def _header(self, scope: Scope, name: str | None) -> str | None:
        """Return a header.

        Raises RequestError if it is repeated, as one of them may come from the client, and if it is not UTF-8: names
        that differ only in replaced characters would be one account.
        """
        if name is None:
            return None
        found = [value for header, value in scope["headers"] if header == name.encode()]
        if len(found) > 1:
            raise RequestError(
                Code.UNAUTHORIZED, f"The header {name} may appear only once. The proxy must replace it.", name
            )
        try:
            return found[0].decode().strip() or None if found else None
        except UnicodeDecodeError:
            raise RequestError(Code.UNAUTHORIZED, f"The header {name} is not UTF-8.", name) from None

    def _is_trusted(self, scope: Scope) -> bool:
        """Return whether the connection comes from a trusted address; X-Forwarded-For does not count."""
        address = _address(scope.get(PEER))
        return address is not None and any(address in network for network in self.trusted)


def _address(peer: tuple[str, int] | None) -> IPv4Address | IPv6Address | None:
    if peer is None:
        return None
    try:
        address = ip_address(peer[0].partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def networks_of(items: Sequence[str]) -> list[Network]:
    """Return networks from addresses and networks like 10.0.0.0/8."""
    return [ip_network(one) for one in items]
