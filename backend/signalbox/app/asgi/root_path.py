"""The path prefix under which clients reach the app: a mount in another app, or the setting of a reverse proxy.

ASGI's `path` includes `root_path`. Proxies may strip all or a part of it, so the app restores the full path first.
"""

from urllib.parse import quote

from starlette.types import Scope

_KEY = "signalbox.root_path"


def place_under(scope: Scope, configured: str) -> None:
    """Make `path` begin with `root_path`, which is the mount's or else the configured one."""
    root: str = (scope.get("root_path") or configured).rstrip("/")
    scope["root_path"] = scope[_KEY] = root
    if root:
        scope["path"] = f"{root}{_without(root, scope['path'])}"


def _without(root: str, path: str) -> str:
    """Return a path without what it has of the root: all of it, or the end that a proxy has not stripped."""
    for at, sign in enumerate(root):
        if sign == "/" and f"{path}/".startswith(f"{root[at:]}/"):
            return path[len(root) - at :]
    return path


def path_in_app(scope: Scope) -> str:
    """Return the path of a request below the app's root."""
    return scope["path"][len(scope.get(_KEY, "")) :]


def public_root(scope: Scope) -> str:
    """Return the app's root as part of a URL; empty if the app is at the root of its server."""
    return quote(scope.get(_KEY, ""))
