"""The results of a set: one line of JSON per attempt in `results.ndjson`, which is only appended to."""

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

import msgspec
from msgspec import Struct

Outcome = Literal["pass", "fail", "error"]
FILE = "results.ndjson"


class ResultsError(Exception):
    """A file of results cannot be used; the message is a sentence."""


class Check(Struct, frozen=True, omit_defaults=True):
    """An expectation and whether it holds; `detail` says why not."""

    name: str
    ok: bool
    detail: str = ""


class MadeCall(Struct, frozen=True, omit_defaults=True):
    """A tool call; `error` is the message of a failed one."""

    name: str
    arguments: str
    error: str | None = None


class FoundFile(Struct, frozen=True, omit_defaults=True):
    """A file of the conversation after the run."""

    path: str
    size: int = 0


class Result(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One attempt of a trial. `error`: no answer could be checked, because the request or the run failed."""

    digest: str
    case: str
    model: str
    loop: str | None = None
    repeat: int
    attempt: int
    outcome: Outcome
    at: str
    checks: list[Check] = []
    error: str | None = None
    will_retry: bool = False
    run_id: str | None = None
    conversation_id: str | None = None
    status: str | None = None
    code: str | None = None
    served_loop: str | None = None
    served_model: str | None = None
    text: str = ""
    calls: list[MadeCall] = []
    files: list[FoundFile] = []
    warnings: list[str] = []
    steps: int | None = None
    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: int | None = None
    first_token_ms: int | None = None
    simulated: bool = False

    @property
    def place(self) -> tuple[str, str, str]:
        """Case, model and loop."""
        return self.case, self.model, self.loop or "default"

    @property
    def failed_checks(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]


_decoder = msgspec.json.Decoder(Result)
_encode = msgspec.json.Encoder().encode


def load_results(path: Path) -> list[Result]:
    """Read a file of results, or that of a folder; an incomplete last line is left out. Raises ResultsError."""
    file = path / FILE if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror}.") from None
    lines = data.split(b"\n")[:-1]
    try:
        return [_decoder.decode(line) for line in lines if line.strip()]
    except msgspec.DecodeError as error:
        number = next(number for number, line in enumerate(lines, 1) if line.strip() and not _is_result(line))
        raise ResultsError(f"{file}, line {number} is not a result: {error}.") from None


def _is_result(line: bytes) -> bool:
    try:
        _decoder.decode(line)
    except msgspec.DecodeError:
        return False
    return True


def latest(results: Iterable[Result]) -> dict[str, Result]:
    """Return the last attempt of each trial, by its digest."""
    return {result.digest: result for result in results}


class ResultsFile:
    """The results of an output folder. Each line is on disk before the next attempt starts."""

    def __init__(self, folder: Path, secrets: Iterable[str] = ()) -> None:
        """Create the folder, and read what it has; raises ResultsError."""
        self._secrets = [secret for secret in secrets if secret]
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("ab")
        except OSError as error:
            raise ResultsError(f"The output folder {folder} cannot be written: {error.strerror}.") from None
        try:
            _lock(self._file, folder)
            self._file.truncate(path.read_bytes().rfind(b"\n") + 1)  # a crash may have cut the last line
            self.results = load_results(path)
        except OSError as error:
            self._file.close()
            raise ResultsError(f"{path} cannot be used: {error.strerror}.") from None
        except BaseException:
            self._file.close()
            raise

    def add(self, result: Result) -> Result:
        """Append a result without secrets, and return it; raises ResultsError."""
        clean: Result = msgspec.convert(self._without_secrets(msgspec.to_builtins(result)), Result)
        try:
            self._file.write(_encode(clean) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise ResultsError(f"{self._file.name} cannot be written: {error.strerror}.") from None
        self.results.append(clean)
        return clean

    def _without_secrets(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, "[secret]")
            return value
        if isinstance(value, dict):
            return {name: self._without_secrets(one) for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return [self._without_secrets(one) for one in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


def _lock(file: IO[bytes], folder: Path) -> None:
    """Keep a second command out of the same folder: both would execute the same trials."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ResultsError(
            f"Another signalbox eval writes to {folder}. Wait for it, or name another --output."
        ) from None
