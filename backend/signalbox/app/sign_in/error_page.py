"""The page for a sign-in that failed: a browser shows it, because it has navigated to the address."""

from html import escape

from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from signalbox.app.asgi.request_id import info_of
from signalbox.app.asgi.root_path import public_root
from signalbox.app.asgi.static_files import wants_page
from signalbox.app.errors import error_response
from signalbox.core.errors import RequestError

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in failed</title></head>
<body>
<h1>Sign-in failed</h1>
<p>{message}</p>
<p><a href="{root}/auth/login">Sign in again</a> · <a href="{root}/">Back to the chat</a></p>
</body>
</html>
"""


def failed(error: RequestError, scope: Scope) -> Response:
    """Return a page for a browser, and JSON for other clients."""
    if not wants_page(scope):
        return error_response(error, scope)
    info_of(scope).code = str(error.code)
    page = _PAGE.format(message=escape(error.message), root=escape(public_root(scope)))
    return HTMLResponse(page, error.status)
