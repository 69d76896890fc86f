"""Decides which network addresses may be fetched: public ones, and those that the operator allows (quirk G1)."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(one) for one in text.split())


# From IANA's special-purpose registries. `ipaddress.is_global` changed between patch releases of Python
# (CVE-2024-4032), counts parts of multicast as global, and ignores IPv4 inside IPv6.
_SPECIAL_V4 = _networks(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
    "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
# Only 2000::/3 is assigned as global unicast, except the IETF's block (with Teredo), documentation and 6to4.
_GLOBAL_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = _networks("2001::/23 2001:db8::/32 2002::/16 3fff::/20")
_MAPPED, _NAT64 = IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")
# Never allowed: link-local addresses, metadata services of clouds, and addresses that belong to no host.
_NEVER = _networks(
    "0.0.0.0/8 169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 224.0.0.0/4 255.255.255.255/32 "
    "::/128 fe80::/10 ff00::/8 fd00:ec2::254/128 fd20:ce::254/128"
)


def unwrapped(address: Address) -> Address:
    """Return the IPv4 address inside a mapped (::ffff:) or translated (NAT64) IPv6 address; any other unchanged."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def is_public(address: Address) -> bool:
    """Return whether an address is public, in any notation."""
    inner = unwrapped(address)
    if isinstance(inner, IPv4Address):
        return not any(inner in network for network in _SPECIAL_V4)
    return inner in _GLOBAL_V6 and not any(inner in network for network in _SPECIAL_V6)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Host names and networks that the operator allows besides the public internet."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> "Allowance":
        """Parse host names, addresses and networks (10.0.0.0/8); raises ValueError with the invalid entry."""
        hosts: set[str] = set()
        networks: list[Network] = []
        for entry in entries:
            try:
                networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                hosts.add(_host_name(entry))
        return cls(frozenset(hosts), tuple(networks))

    def names(self, host: str) -> bool:
        """Return whether a host is allowed by its name or as a literal address."""
        try:
            return host in self.hosts or self._in_networks(ip_address(host))
        except ValueError:
            return False

    def permits(self, host: str, address: Address) -> bool:
        """Return whether a connection for `host` may go to this address."""
        inner = unwrapped(address)
        if any(inner in network for network in _NEVER):
            return False
        return is_public(address) or host in self.hosts or self._in_networks(inner)

    def _in_networks(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def _host_name(entry: str) -> str:
    host = ascii_host(entry)
    if host is None or "/" in entry:
        raise ValueError(f"{entry[:60]!r} is neither a host name nor a network")
    return host


_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def ascii_host(host: str) -> str | None:
    """Return a host in lower-case ASCII; None if it is neither a host name nor a plain IP address.

    Other forms of an IPv4 address (2130706433, 0x7f.1, 0177.0.0.1, ①②⑦.⓪.⓪.①) are rejected, because resolvers
    interpret them differently.
    """
    plain = unicodedata.normalize("NFKC", host).lower().removesuffix(".")
    try:
        if ":" in plain:
            return str(IPv6Address(plain)) if "%" not in plain else None
        name = plain if plain.isascii() else plain.encode("idna").decode("ascii")
        if _NUMBER.fullmatch(name.rpartition(".")[2]):
            return str(IPv4Address(name)) if plain == host.lower().removesuffix(".") else None
    except (ValueError, UnicodeError):
        return None
    return name if len(name) <= 253 and _NAME.fullmatch(name) else None
