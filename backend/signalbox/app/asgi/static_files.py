"""Serves files: the chat page at /, the other pages, the documentation at /guide, notes at /notes.

The build stores compressed copies beside files that compress well (frontend/scripts/compress.ts).
"""

import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from urllib.parse import quote

from anyio import to_thread
from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from signalbox.app.asgi import preview_frame
from signalbox.app.asgi.compression import accepted
from signalbox.app.asgi.content_policy import allow_inline, replace_policy
from signalbox.app.asgi.root_path import path_in_app, public_root
from signalbox.app.config import Settings
from signalbox.app.folders import notes_folder
from signalbox.core.security import image_addresses
from signalbox.services.search.pages import SUFFIXES

_PACKAGE = Path(__file__).parents[2]
_ROOT = _PACKAGE.parents[1]
_TEXT = {".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
_API = ("/api/", "/v1/", "/assistant/", "/auth/", "/health/")
_START_PAGE = "README.md"
_START = "index.html"
# Files that the build names by their content never change; all others are revalidated.
_CACHED = {True: "public, max-age=31536000, immutable", False: "no-cache"}
# The page's first request, preloaded before its scripts run. fetchModels in clients/typescript must send the same URL.
_PRELOAD = "<{root}/api/models?hidden=false>; rel=preload; as=fetch; crossorigin"
# Suffixes of compressed copies by encoding, the smallest copy first.
_SUFFIXES = {"br": ".br", "gzip": ".gz"}
# Its addresses begin with /, because documents are at several depths. The other pages have relative addresses.
_DOCUMENT_PAGE = "guide.html"
_NOT_BUILT = {
    "docs.html": "The API reference is not built yet: run ./just start, or read /openapi.json.\n",
    "operator.html": "The operator page is not built yet: run ./just start, or use PUT /api/flags/tool_loop_v2.\n",
    _DOCUMENT_PAGE: "The page for documents is not built yet: run ./just start, or send Accept: text/markdown.\n",
    preview_frame.FILE: "The frame of previews is not built yet: run ./just start.\n",
}


def page_folder() -> Path | None:
    """Return the folder of the built page, in the wheel or in the repository; None if it is not built."""
    for folder in (_PACKAGE / "_page", _ROOT / "frontend" / "dist"):
        if (folder / _START).is_file():
            return folder
    return None


def docs_folder() -> Path:
    """Return the folder of this project's documentation, in the wheel or in the repository."""
    packaged = _PACKAGE / "_docs"
    return packaged if packaged.is_dir() else _ROOT / "docs"


def wants_page(scope: Scope) -> bool:
    """Return whether a browser navigates to a document: it gets the page that shows the document."""
    return scope["method"] in ("GET", "HEAD") and "text/html" in Headers(scope=scope).get("accept", "")


class _PageFiles(StaticFiles):
    """Files of the build, each in the smallest encoding that the client accepts.

    `is_open`: the API requires no token, so the page can preload its first request. `origins` are the page's besides
    that of the Host header. The media type is that of the uncompressed file; ETag and ranges belong to the bytes that
    are sent.
    """

    def __init__(self, folder: Path, origins: Sequence[str], *, is_open: bool) -> None:
        super().__init__(directory=folder, html=True)
        self.folder = folder
        self._start = folder / _START
        self._origins = origins
        self._is_open = is_open

    async def get_response(self, path: str, scope: Scope) -> Response:
        name = _START if path == "." else path
        encoding = await to_thread.run_sync(self._encoding, name, scope)
        response = await super().get_response(f"{name}{_SUFFIXES[encoding]}" if encoding else path, scope)
        response.headers["vary"] = "accept-encoding"
        response.headers["cache-control"] = _CACHED[path.startswith("assets")]
        if encoding:
            response.headers["content-encoding"] = encoding
        if name == _START:
            frames = preview_frame.frame_sources(scope, self._origins)
            await to_thread.run_sync(allow_inline, scope, self._start, frames)
            if self._is_open:
                response.headers["link"] = _PRELOAD.format(root=public_root(scope))
        return response

    def _encoding(self, name: str, scope: Scope) -> str | None:
        """Return the content encoding of the response; raises HTTPException 404 for a file that is not served."""
        exists = self.has(name)
        # A POST to an unknown path gets a 404, not a 405: the client may expect another protocol.
        if name.endswith(tuple(_SUFFIXES.values())) or not (exists or scope["method"] in ("GET", "HEAD")):
            raise HTTPException(404)
        return accepted(scope, [one for one, suffix in _SUFFIXES.items() if exists and self.has(f"{name}{suffix}")])

    def under(self, name: str, root: str) -> str:
        """Return a page with the root before the paths in its attributes."""
        text = Path(self.lookup_path(name)[0]).read_text(encoding="utf-8")
        return text.replace('="/', f'="{root}/')

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        try:
            return self.lookup_path(name)[1] is not None
        except (OSError, ValueError):  # a long name or a null byte: StaticFiles rejects it
            return False


class _Documents(StaticFiles):
    """Documents: a browser gets the page that shows them, other clients their text; none of it is executed.

    Only files that search can read are served, and no hidden ones.
    """

    def __init__(self, folder: Path, page: _PageFiles | None) -> None:
        super().__init__(directory=folder, check_dir=False)
        self._page = page

    async def check_config(self) -> None:
        """Accept a missing folder: the first start creates the notes folder."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        folder = await to_thread.run_sync(self._find, path)
        if folder and not scope["path"].endswith("/"):
            return RedirectResponse(f"{scope['path']}/")
        response = await self._answer(path, folder, scope)
        response.headers["vary"] = "accept, accept-encoding"
        response.headers["cache-control"] = _CACHED[False]
        return response

    def _find(self, path: str) -> Path | None:
        """Return the folder, or None for a file; raises HTTPException 404 for paths that are not served."""
        hidden = any(part.startswith(".") for part in Path(path).parts)
        try:
            full, stat = self.lookup_path(path)
        except (OSError, ValueError):  # a long name or a null byte
            raise HTTPException(404) from None
        is_folder = stat is not None and S_ISDIR(stat.st_mode)
        if stat is None or hidden or not (is_folder or Path(path).suffix.lower() in SUFFIXES):
            raise HTTPException(404)
        return Path(full) if is_folder else None

    async def _answer(self, path: str, folder: Path | None, scope: Scope) -> Response:
        if wants_page(scope):
            return await _built(self._page, _DOCUMENT_PAGE, scope)
        if folder:
            listing = await to_thread.run_sync(_listing, folder)
            if listing is not None:
                return PlainTextResponse(listing, media_type="text/markdown")
            path = str(Path(path, _START_PAGE))
        response = await super().get_response(path, scope)
        response.headers["content-type"] = _TEXT.get(Path(path).suffix.lower(), "text/plain; charset=utf-8")
        # Weak, because the response may be compressed.
        response.headers["etag"] = f"W/{response.headers['etag']}"
        return response


def _listing(folder: Path) -> str | None:
    """List the served files of a folder as Markdown; None if it has a start page."""
    if (folder / _START_PAGE).is_file():
        return None
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    names = [f"{one.name}/" for one in shown if one.is_dir()]
    names += [one.name for one in shown if one.is_file() and Path(one.name).suffix.lower() in SUFFIXES]
    return "\n".join(["# Documents", "", *(f"- [{_plain(name)}](<{quote(name)}>)" for name in sorted(names)), ""])


def _plain(name: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\[]*_`<>" else sign for sign in name)


class _Page(Mount):
    """The page at /, except the paths of the API: there a wrong method must get a 405, not a 404."""

    def __init__(self, files: _PageFiles, api: Collection[str]) -> None:
        super().__init__("/", files, name="page")
        self._api = frozenset(api)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = path_in_app(scope)
        if f"{path}/".startswith(_API) or path in self._api:  # Starlette would redirect /v1/ to a matching /v1
            return Match.NONE, {}
        return super().matches(scope)


@dataclass(frozen=True, slots=True)
class PublicPaths:
    """The paths that need no token: `names`, and everything in `folders`.

    `documents` need a token, except when a browser navigates to one: the page that shows it then asks for the token.
    """

    names: frozenset[str]
    folders: tuple[str, ...]
    documents: tuple[str, ...] = ()

    def covers(self, scope: Scope) -> bool:
        """Return whether a request needs no token."""
        path = path_in_app(scope)
        if path in self.names or path.startswith(self.folders):
            return True
        return path.startswith(self.documents) and wants_page(scope)


def public_paths(settings: Settings, api: Collection[str]) -> PublicPaths:
    """Return the public paths: the pages, this project's documentation, and `api`. The user's documents are private."""
    folder = page_folder()
    build = [*folder.iterdir()] if folder else []
    pages = {"", "/", "/docs", "/operator", "/guide", "/notes", preview_frame.PATH}
    names = pages | {f"/{file.name}" for file in build if file.is_file()}
    folders = ["/health/", image_addresses.PREFIX, *(f"/{one.name}/" for one in build if one.is_dir())]
    documents = ["/notes/"]
    (folders if settings.signalbox_docs is None else documents).append("/guide/")
    return PublicPaths(frozenset(names.union(api)), tuple(folders), tuple(documents))


def mount_files(app: FastAPI, settings: Settings, api: Collection[str], *, is_open: bool) -> None:
    """Serve the guide and the pages; if the page is not built, say how to build it.

    `api` are paths outside /api/ that the page must not answer.
    """
    folder = page_folder()
    page = _PageFiles(folder, settings.signalbox_allowed_origins, is_open=is_open) if folder else None
    for path, documents in (("/guide", settings.signalbox_docs or docs_folder()), ("/notes", notes_folder(settings))):
        app.mount(path, _Documents(documents, page), name=path[1:])
        app.add_api_route(path, _to(f"{path}/"), methods=["GET", "HEAD"], include_in_schema=False)
    for path, name in (("/docs", "docs.html"), ("/operator", "operator.html")):
        app.add_api_route(path, _entry(page, name), methods=["GET", "HEAD"], include_in_schema=False)
    frame = _preview_frame(page, settings.signalbox_frame_ancestors)
    app.add_api_route(preview_frame.PATH, frame, methods=["GET", "HEAD"], include_in_schema=False)
    if page is not None:
        app.router.routes.append(_Page(page, api))
    else:
        app.add_api_route("/", _no_page, methods=["GET", "HEAD"], include_in_schema=False)


def _entry(page: _PageFiles | None, name: str) -> Callable[[Request], Awaitable[Response]]:
    async def entry(request: Request) -> Response:
        return await _built(page, name, request.scope)

    return entry


def _preview_frame(page: _PageFiles | None, ancestors: Sequence[str]) -> Callable[[Request], Awaitable[Response]]:
    async def frame(request: Request) -> Response:
        response = await _built(page, preview_frame.FILE, request.scope)
        file = page.folder / preview_frame.FILE if page else None
        if file is not None and file.is_file():
            policy = await to_thread.run_sync(preview_frame.frame_policy, request.scope, file, ancestors)
            replace_policy(request.scope, policy)
        return response

    return frame


async def _built(page: _PageFiles | None, name: str, scope: Scope) -> Response:
    """Respond with a built page, or with a sentence if it is not built."""
    if page is None or not await to_thread.run_sync(page.has, name):
        return PlainTextResponse(_NOT_BUILT[name])
    response = await page.get_response(name, scope)
    if (root := public_root(scope)) and name == _DOCUMENT_PAGE and response.status_code == 200:
        return HTMLResponse(await to_thread.run_sync(page.under, name, root))
    return response


def _to(path: str) -> Callable[[Request], Awaitable[Response]]:
    async def to(request: Request) -> Response:
        return RedirectResponse(f"{public_root(request.scope)}{path}")

    return to


async def _no_page() -> Response:
    return PlainTextResponse("The chat page is not built yet: run ./just start, or use POST /api/chat/stream.\n")
