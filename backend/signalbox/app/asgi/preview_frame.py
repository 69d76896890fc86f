"""The document /preview-frame, in which the chat page shows files that a model has written.

Scripts of these files run, but `sandbox` gives the document a separate origin, and its policy allows no requests. So
they cannot read the page, its storage or the API, and cannot send anything anywhere.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope

from signalbox.app.asgi.content_policy import ancestors_of, inline_hashes
from signalbox.app.asgi.root_path import public_root

PATH = "/preview-frame"
FILE = "preview-frame.html"
_POLICY = (
    "sandbox {sandbox}; default-src 'none'; script-src {scripts}; style-src 'unsafe-inline' data: blob:; "
    "img-src data: blob:; font-src data: blob:; media-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
# `draft` shows files that are not complete, and runs only the frame's own script. `print` is a draft that may open the
# print dialog.
_SANDBOXES = {"draft": "allow-scripts", "print": "allow-scripts allow-modals"}
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?")


def frame_policy(scope: Scope, page: Path, frame_ancestors: Sequence[str]) -> bytes:
    """Return the policy of the document for the query parameter `mode`; `page` is its file."""
    mode = QueryParams(scope["query_string"]).get("mode", "")
    own = inline_hashes(page)["script"].decode()
    policy = _POLICY.format(
        sandbox=_SANDBOXES.get(mode, "allow-scripts"),
        scripts=own if mode in _SANDBOXES else "'unsafe-inline' data: blob:",
        ancestors=ancestors_of(["self", *(one for one in frame_ancestors if one != "self")]),
    )
    return policy.encode()


def frame_sources(scope: Scope, origins: Sequence[str]) -> str:
    """Return the addresses of the document as sources of the directive frame-src.

    The scheme http also matches https. `origins` are those of the page behind a proxy that sends another Host.
    """
    host = Headers(scope=scope).get("host", "")
    own = [f"http://{host}"] if _HOST.fullmatch(host) else []
    return " ".join(f"{origin}{public_root(scope)}{PATH}" for origin in [*own, *origins]) or "'none'"
