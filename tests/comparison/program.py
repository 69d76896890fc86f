"""The running program of a library."""

import json
import os
import subprocess
import threading
from typing import Any, Self

from tests.comparison.libraries import HERE, ROOT, Library

_SECONDS = 120
PROGRAMS = HERE / "programs"


class Program:
    """The running program of a library; it runs one action at a time."""

    def __init__(self, library: Library) -> None:
        self.library = library
        command = [str(library.python), str(PROGRAMS / library.program)]
        self._process = subprocess.Popen(
            command,
            env=_environment(library),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def ask(self, **given: object) -> dict[str, Any]:
        """Run an action, and return what the program saw."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        limit = threading.Timer(_SECONDS, self._process.kill)
        limit.start()
        try:
            stdin.write(json.dumps(given) + "\n")
            stdin.flush()
            line = stdout.readline()
        finally:
            limit.cancel()
        if not line:
            words = self._process.communicate()[1]
            raise RuntimeError(f"{self.library.name}, {given['action']}: {words[-2000:] or 'no answer in time'}")
        return json.loads(line)


def _environment(library: Library) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept if library.environment else {**kept, "PYTHONPATH": str(ROOT / "backend")}
