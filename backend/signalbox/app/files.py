"""What is served from disk: the chat page at /, its other pages, the documentation at /guide, notes at /notes."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from stat import S_ISDIR
from urllib.parse import quote

from anyio import to_thread
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from signalbox.app.config import Settings
from signalbox.services.search.pages import SUFFIXES

_PACKAGE = Path(__file__).parents[1]
_ROOT = _PACKAGE.parents[1]
_TEXT = {".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
_START_PAGE = "README.md"
# What the build names by its content never changes; everything else is asked for again, which a 304 answers.
_CACHED = {True: "public, max-age=31536000, immutable", False: "no-cache"}
_NOT_BUILT = {
    "docs.html": "The reference is not built yet: run ./just start. The API describes itself at /openapi.json.\n",
    "operator.html": "The operator's page is not built yet: run ./just start, or use PUT /api/flags/tool_loop_v2.\n",
    "guide.html": "The page for documents is not built yet: run ./just start, or ask with Accept: text/markdown.\n",
}


def page_folder() -> Path | None:
    """Return where the built page is: in the wheel, else where the repository builds it; None when it is not built."""
    for folder in (_PACKAGE / "_page", _ROOT / "frontend" / "dist"):
        if (folder / "index.html").is_file():
            return folder
    return None


def docs_folder() -> Path:
    """Return the project's own documentation: in the wheel, else in the repository."""
    packaged = _PACKAGE / "_docs"
    return packaged if packaged.is_dir() else _ROOT / "docs"


def notes_folder(settings: Settings) -> Path:
    """Return where notes are kept: the folder that is set, else one in the data folder."""
    return settings.signalbox_notes_dir or settings.signalbox_data_dir / "notes"


def wants_page(scope: Scope) -> bool:
    """Whether a browser navigates, as against a program or a script that reads: it never gets a document itself."""
    return scope["method"] in ("GET", "HEAD") and "text/html" in Headers(scope=scope).get("accept", "")


class _Documents(StaticFiles):
    """Documents: a browser gets the page that shows them, whoever else asks their text; nothing in them runs.

    Nothing but what search reads is served, and no hidden file.
    """

    def __init__(self, folder: Path, page: Path | None) -> None:
        super().__init__(directory=folder, check_dir=False)
        self._page = page

    async def check_config(self) -> None:
        """Let a folder be absent: there is no notes folder before the first start has made it."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        folder = await to_thread.run_sync(self._find, path)
        if folder and not scope["path"].endswith("/"):
            return RedirectResponse(f"{scope['path']}/")
        response = await self._answer(path, folder, scope)
        response.headers["vary"] = "accept"
        response.headers["cache-control"] = _CACHED[False]
        return response

    def _find(self, path: str) -> Path | None:
        """Return the folder, or None for a file; raise 404 for what is not served."""
        hidden = any(part.startswith(".") for part in Path(path).parts)
        try:
            full, stat = self.lookup_path(path)
        except (OSError, ValueError):  # too long a name, a null byte
            raise HTTPException(404) from None
        is_folder = stat is not None and S_ISDIR(stat.st_mode)
        if stat is None or hidden or not (is_folder or Path(path).suffix.lower() in SUFFIXES):
            raise HTTPException(404)
        return Path(full) if is_folder else None

    async def _answer(self, path: str, folder: Path | None, scope: Scope) -> Response:
        if wants_page(scope):
            return _built(self._page, "guide.html")
        if folder:
            listing = await to_thread.run_sync(_listing, folder)
            if listing is not None:
                return PlainTextResponse(listing, media_type="text/markdown")
            path = str(Path(path, _START_PAGE))
        response = await super().get_response(path, scope)
        response.headers["content-type"] = _TEXT.get(Path(path).suffix.lower(), "text/plain; charset=utf-8")
        return response


def _listing(folder: Path) -> str | None:
    """List what is served of a folder, as a Markdown document; None where it has a start page."""
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
    """The page, which leaves the API's addresses alone: a mount at / would turn a wrong method there into a 404."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["path"].startswith(("/api/", "/health/")):
            return Match.NONE, {}
        return super().matches(scope)


class _PageFiles(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD") and (await to_thread.run_sync(self.lookup_path, path))[1] is None:
            raise HTTPException(404)  # a client of another protocol should not read that the method is wrong
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _CACHED[path.startswith("assets")]
        return response


def mount_files(app: FastAPI, settings: Settings) -> None:
    """Serve the guide and the pages; whoever has no page yet is told how to get one."""
    page = page_folder()
    for path, folder in (("/guide", settings.signalbox_docs or docs_folder()), ("/notes", notes_folder(settings))):
        app.mount(path, _Documents(folder, page), name=path[1:])
        app.add_api_route(path, _to(f"{path}/"), methods=["GET", "HEAD"], include_in_schema=False)
    for path, name in (("/docs", "docs.html"), ("/operator", "operator.html")):
        app.add_api_route(path, _entry(page, name), methods=["GET", "HEAD"], include_in_schema=False)
    if page is not None:
        app.router.routes.append(_Page("/", _PageFiles(directory=page, html=True), name="page"))
    else:
        app.add_api_route("/", _no_page, methods=["GET", "HEAD"], include_in_schema=False)


def _entry(page: Path | None, name: str) -> Callable[[], Awaitable[Response]]:
    async def entry() -> Response:
        return _built(page, name)

    return entry


def _built(page: Path | None, name: str) -> Response:
    """Answer with a page of the build, or with a sentence where there is none."""
    if page is None or not (page / name).is_file():
        return PlainTextResponse(_NOT_BUILT[name])
    return FileResponse(page / name, headers={"cache-control": _CACHED[False]})


def _to(path: str) -> Callable[[], Awaitable[Response]]:
    async def to() -> Response:
        return RedirectResponse(path)

    return to


async def _no_page() -> Response:
    return PlainTextResponse("The chat page is not built yet: run ./just start, or use POST /api/chat/stream.\n")
