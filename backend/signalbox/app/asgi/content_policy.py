"""The content security policy of every response.

On the chat page it allows the build's inline style and script, and the frame of previews. That frame has its own policy
(preview_frame.py). A setting allows other sites to show pages in a frame.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from starlette.types import Scope

# A page loads only from its own server, because answers may contain anything that a model writes (quirk G2).
_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; frame-ancestors {ancestors}; form-action 'self'"
)
_KEY = "signalbox.content_policy"
_OTHER_KEY = "signalbox.other_content_policy"
_NO_FRAMES = b"; frame-src 'none'"
# Inline elements of the build (frontend/scripts/inline.ts): they have no attributes.
_INLINE = re.compile(rb"<(script|style)>(.*?)</\1>", re.DOTALL)


def policy_with(frame_ancestors: Sequence[str]) -> bytes:
    """Return the policy; `frame_ancestors` are `self` and origins whose pages may show this server's in a frame."""
    return _POLICY.format(ancestors=ancestors_of(frame_ancestors) or "'none'").encode()


def ancestors_of(frame_ancestors: Sequence[str]) -> str:
    """Return `self` and origins as sources of the directive frame-ancestors."""
    return " ".join("'self'" if one == "self" else one for one in frame_ancestors)


def policy_of(scope: Scope, policy: bytes) -> tuple[bytes, bytes]:
    """Return the header of a response to this request."""
    return b"content-security-policy", scope.get(_OTHER_KEY) or policy + scope.get(_KEY, _NO_FRAMES)


def replace_policy(scope: Scope, policy: bytes) -> None:
    """Send this policy with the response to a request, instead of the one that all responses have."""
    scope[_OTHER_KEY] = policy


def allow_inline(scope: Scope, page: Path, frames: str) -> None:
    """Allow the inline style and script of the chat page, and frames of one address, also in a 304.

    After a 304, a browser uses its cached page with the policy of the new response. Reads the file if it has changed.
    """
    hashes = inline_hashes(page)
    sources = b"".join(b"; %s-src 'self' %s" % (kind.encode(), of) for kind, of in hashes.items() if of)
    scope[_KEY] = sources + b"; frame-src " + frames.encode()


def inline_hashes(page: Path) -> dict[str, bytes]:
    """Return the hashes of a page's inline scripts and styles, as sources. Reads the file if it has changed."""
    return _hashes_in(page, page.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _hashes_in(page: Path, changed: int) -> dict[str, bytes]:
    inline = _INLINE.findall(page.read_bytes())
    return {
        kind: b" ".join(b"'sha256-%s'" % b64encode(sha256(text).digest()) for of, text in inline if of == kind.encode())
        for kind in ("script", "style")
    }
