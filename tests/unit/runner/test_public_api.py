"""The public API: its names, and what importing it costs."""

import subprocess
import sys

import signalbox

from tests.conftest import ROOT

SERVER_PACKAGES = {
    *(
        "alembic",
        "fastapi",
        "limits",
        "pydantic",
        "pydantic_settings",
        "sqlalchemy",
        "starlette",
        "structlog",
        "uvicorn",
    )
}


def _imported_by(code: str) -> set[str]:
    """Return the top-level packages that a fresh interpreter has imported after this code."""
    program = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "backend", capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_public_name_exists() -> None:
    """Each name of `__all__` can be imported, and type checkers see the same ones."""
    assert {name for name in signalbox.__all__ if getattr(signalbox, name) is None} == set()
    assert sorted(signalbox._MODULE_OF) == sorted(signalbox.__all__)
    assert (ROOT / "backend" / "signalbox" / "py.typed").exists()


def test_importing_the_package_imports_almost_nothing() -> None:
    """`import signalbox` imports no other package."""
    assert _imported_by("import signalbox") & {*SERVER_PACKAGES, "msgspec", "httpx", "asyncio", "orjson"} == set()


def test_the_public_names_need_no_package_of_the_server() -> None:
    """All public names together import none of the server's packages."""
    imported = _imported_by("from signalbox import *")
    assert imported & SERVER_PACKAGES == set()
    assert {"msgspec", "signalbox"} <= imported
