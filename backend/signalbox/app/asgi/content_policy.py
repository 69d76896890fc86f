"""The content security policy of every response; on the chat page it allows the build's inline style and script."""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from starlette.types import Scope

# A page loads only from its own server, because answers may contain anything that a model writes (quirk G2).
_POLICY = (
    b"default-src 'self'; img-src 'self' data:; object-src 'none'; "
    b"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
_KEY = "signalbox.content_policy"
# Inline elements of the build (frontend/scripts/inline.ts): they have no attributes.
_INLINE = re.compile(rb"<(script|style)>(.*?)</\1>", re.DOTALL)


def policy_of(scope: Scope) -> tuple[bytes, bytes]:
    """Return the header of a response to this request."""
    return b"content-security-policy", scope.get(_KEY, _POLICY)


def allow_inline(scope: Scope, page: Path) -> None:
    """Allow the inline style and script of a built page in the response to this request, also in a 304.

    After a 304, a browser uses its cached page with the policy of the new response. Reads the file if it has changed.
    """
    scope[_KEY] = _policy_for(page, page.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _policy_for(page: Path, changed: int) -> bytes:
    inline = _INLINE.findall(page.read_bytes())
    allowed = {
        kind: b" ".join(b"'sha256-%s'" % b64encode(sha256(text).digest()) for of, text in inline if of == kind)
        for kind in (b"script", b"style")
    }
    return b"; ".join([_POLICY, *(b"%s-src 'self' %s" % (kind, hashes) for kind, hashes in allowed.items() if hashes)])
