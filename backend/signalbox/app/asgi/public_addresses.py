"""Checks of settings that say where clients reach the server, and from which pages. Each raises ValueError."""

import re
from collections.abc import Iterable

# An origin as browsers send it (RFC 6454), with international names in their xn-- form; others would never match.
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?")
# A source of the policy's frame-ancestors; `*.` stands for every subdomain.
_ANCESTOR = re.compile(r"self|https?://(?:\*\.)?[a-z0-9_.-]+(?::[1-9][0-9]{0,4})?")
_ROOT_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
# The first segments of Signalbox's paths. With the prefix /api, a proxy that strips it and one that does not would send
# the same path for different requests.
_OWN = frozenset(
    (
        *("agui", "api", "assets", "assistant", "auth", "docs", "guide", "health", "notes", "operator"),
        *("preview-frame", "v1"),
    )
)


def check_hosts(hosts: Iterable[str]) -> None:
    """Check names of the server's host."""
    for host in hosts:
        if "/" in host or (":" in host and not host.startswith("[")):
            raise ValueError(f"takes host names without scheme and port, not {host!r}")


def check_origins(origins: Iterable[str]) -> None:
    """Check origins that may send requests."""
    for origin in origins:
        found = _ORIGIN.fullmatch(origin)
        if found is None or found["port"] == {"http": "80", "https": "443"}[found["scheme"]]:
            raise ValueError(
                "takes origins as browsers send them, like https://chat.example.org or http://10.0.0.7:8080: in "
                f"lower case, without a default port and without a path, not {_shown(origin)!r}"
            )


def check_frame_ancestors(ancestors: Iterable[str]) -> None:
    """Check `self` and origins whose pages may show the server's pages in a frame."""
    for ancestor in ancestors:
        if _ANCESTOR.fullmatch(ancestor) is None:
            raise ValueError(
                "takes self and origins like https://app.example.org or https://*.example.org: in lower case and "
                f"without a path, not {_shown(ancestor)!r}"
            )


def check_root_path(root: str) -> None:
    """Check the path prefix of a reverse proxy, without a slash at its end."""
    if _ROOT_PATH.fullmatch(root) is None:
        raise ValueError("must be a path like /chat: ASCII letters, digits and ._~- after each /")
    if own := _OWN.intersection(root.split("/")):
        raise ValueError(f"cannot contain /{min(own)}, because paths of Signalbox begin with it; choose another prefix")


def _shown(origin: str) -> str:
    return origin.rpartition("@")[2]  # without a user and a password
