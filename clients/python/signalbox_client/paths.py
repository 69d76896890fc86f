"""Paths of the API."""

from urllib.parse import quote

from signalbox_client.errors import SignalboxError


def path_of(kind: str, name: str, *more: str) -> str:
    """Return the path of a run, a conversation or a save, or a path below it."""
    return "/".join(["/api", kind, quote(name, safe=""), *more])


def quoted_file(path: str) -> str:
    """Return the path of a file as a part of a URL; raises SignalboxError."""
    parts = path.split("/")
    # httpx resolves these parts, so the request would reach another endpoint.
    if any(part in {"", ".", ".."} for part in parts):
        words = f"path: {path!r} has a part that is empty, '.' or '..'. Use a path such as 'css/style.css'."
        raise SignalboxError("INVALID_REQUEST", words)
    return quote(path)
