"""What is served from disk: the chat page at /, the documentation at /guide."""

from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from signalbox.app.config import Settings
from signalbox.services.search.pages import SUFFIXES

_PACKAGE = Path(__file__).parents[1]
_ROOT = _PACKAGE.parents[1]
_TEXT = {".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8"}


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


class _Guide(StaticFiles):
    """Documentation as text: a browser shows it, nothing in it runs, and nothing but what search reads is served."""

    async def check_config(self) -> None:
        """Let a folder be absent: there is no notes folder before the first start has made it."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = Path(path).parts
        if any(part.startswith(".") for part in parts) or Path(path).suffix.lower() not in SUFFIXES:
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        response.headers["content-type"] = _TEXT.get(Path(path).suffix.lower(), "text/plain; charset=utf-8")
        return response


class _Page(Mount):
    """The page, which leaves the API's addresses alone: a mount at / would turn a wrong method there into a 404."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["path"].startswith(("/api/", "/health/")):
            return Match.NONE, {}
        return super().matches(scope)


def notes_folder(settings: Settings) -> Path:
    """Return where notes are kept: the folder that is set, else one in the data folder."""
    return settings.signalbox_notes_dir or settings.signalbox_data_dir / "notes"


def mount_files(app: FastAPI, settings: Settings) -> None:
    """Serve the guide, the notes and the page; whoever has no page yet is told how to get one."""
    guide = settings.signalbox_docs or docs_folder()
    if guide.is_dir():
        app.mount("/guide", _Guide(directory=guide), name="guide")
    app.mount("/notes", _Guide(directory=notes_folder(settings), check_dir=False), name="notes")
    page = page_folder()
    if page is not None:
        app.router.routes.append(_Page("/", StaticFiles(directory=page, html=True), name="page"))
    else:
        app.add_api_route("/", _no_page, include_in_schema=False)


async def _no_page() -> Response:
    return PlainTextResponse("The chat page is not built yet: run ./just start, or use POST /api/chat/stream.\n")
