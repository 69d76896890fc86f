"""`signalbox eval`: executes a set of prompts and checks the answers; `signalbox eval compare` compares two results."""

import argparse
import asyncio
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

from signalbox.app.config import FixedSettings, SettingsError, load_settings
from signalbox.evals.client import EvalClient, ServerUnusable
from signalbox.evals.compare import compare
from signalbox.evals.execution import Progress, execute
from signalbox.evals.loading import LoadedSet, SetError, load_set
from signalbox.evals.report import Report
from signalbox.evals.results import Result, ResultsError, ResultsFile, latest, load_results
from signalbox.evals.summary import Totals, totals_of

_MARKS = {"pass": "pass ", "fail": "FAIL ", "error": "ERROR"}
_LONGEST_DETAIL = 200
_LARGEST_TOKEN = 4096


class _UsageError(Exception):
    """The command line cannot be used; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class _Server:
    """The server that is asked. `shown` is its address without credentials."""

    url: str
    shown: str
    token: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> list[str]:
        """What must not be in results and reports."""
        password = urlsplit(self.url).password
        return [secret for secret in (self.token, password) if secret]


def run(arguments: argparse.Namespace) -> int:
    """Execute a set or compare results; return 0 if all passed, 1 if not, 2 if the command failed."""
    names: list[str] = arguments.files
    try:
        return _compare(names[1:]) if names[0] == "compare" else _execute(names, arguments)
    except (_UsageError, SetError, ResultsError, ServerUnusable, SettingsError) as error:
        print(f"signalbox: {error}", file=sys.stderr)
        return 2


def _compare(names: Sequence[str]) -> int:
    if len(names) != 2:
        raise _UsageError("eval compare takes two output folders or results files: signalbox eval compare A B.")
    before, after = (load_results(Path(name)) for name in names)
    comparison = compare(before, after)
    for line in comparison.lines():
        print(line)
    return 1 if comparison.regressions else 0


# --- executing --------------------------------------------------------------------------------------------------------


def _execute(names: Sequence[str], arguments: argparse.Namespace) -> int:
    if len(names) > 1:
        raise _UsageError(f"eval takes one set file, but got {len(names)}: {', '.join(names)}.")
    loaded = load_set(Path(names[0]))
    chosen = _chosen(loaded, arguments.only)
    folder: Path | None = arguments.output
    if folder is None:
        raise _UsageError("Name the folder for results and report: --output FOLDER.")
    with _server(arguments) as server, ResultsFile(folder, server.secrets) as results:
        interrupted = False
        try:
            asyncio.run(_ask_all(chosen, server, results, failed_too=arguments.failed))
        except KeyboardInterrupt:
            interrupted = True
        report = Report(loaded, results.results, server.shown, server.secrets).write(folder)
        totals = _totals(chosen, results)
        print(f"{totals}\n{report}")
        if interrupted:
            print("signalbox: Interrupted. The same command continues.", file=sys.stderr)
            raise KeyboardInterrupt
        return 0 if totals.all_passed else 1


def _chosen(loaded: LoadedSet, patterns: Sequence[str] | None) -> LoadedSet:
    """Return the set with only the trials of cases whose id matches a pattern."""
    if not patterns:
        return loaded
    trials = [one for one in loaded.trials if any(fnmatchcase(one.question.case.id, pattern) for pattern in patterns)]
    if not trials:
        known = ", ".join(question.case.id for question in loaded.questions[:20])
        raise _UsageError(f"No case matches --only {' '.join(patterns)}. The cases are: {known}.")
    return replace(loaded, trials=tuple(trials))


def _totals(loaded: LoadedSet, results: ResultsFile) -> Totals:
    known = {trial.digest for trial in loaded.trials}
    attempts = [result for result in results.results if result.digest in known]
    return totals_of([*latest(attempts).values()], len(loaded.trials), attempts)


async def _ask_all(loaded: LoadedSet, server: _Server, results: ResultsFile, *, failed_too: bool) -> None:
    client = EvalClient(server.url, server.token, loaded.settings.concurrency)
    try:
        await client.check()
        print(f"{loaded.name}: {len(loaded.trials)} runs at {server.shown}", file=sys.stderr)
        progress = await execute(loaded, client, results, _print_result, failed_too=failed_too)
    finally:
        await client.aclose()
    _print_skipped(progress, loaded)


def _print_result(result: Result, done: int, total: int) -> None:
    """Print a line of progress, and why a result did not pass."""
    width = len(str(total))
    place = " · ".join([result.case, result.model, result.served_loop or result.loop or "default"])
    place += f" · repetition {result.repeat}" if result.repeat > 1 else ""
    figures = [f"{result.duration_ms / 1000:.1f} s"] if result.duration_ms is not None else []
    figures += [f"${result.cost:.4f}"] if result.cost is not None else []
    mark = "retry" if result.will_retry else _MARKS[result.outcome]
    print(f"[{done:{width}}/{total}] {mark} {place}  {'  '.join(figures)}".rstrip(), file=sys.stderr)
    reasons = [f"{check.name}: {check.detail}" for check in result.failed_checks]
    if result.outcome == "error":
        reasons = [result.error or f"the run ended with the status {result.status}"]
    for reason in reasons:
        line = " ".join(reason.split())
        print(f"{' ' * (2 * width + 4)}{line[:_LONGEST_DETAIL]}", file=sys.stderr, flush=True)


def _print_skipped(progress: Progress, loaded: LoadedSet) -> None:
    if progress.skipped:
        limit = loaded.settings.max_cost or 0.0
        print(
            f"signalbox: {len(progress.skipped)} runs were not executed: the set has cost ${progress.spent:.4f} of "
            f"max_cost {limit:g}. Raise max_cost in the set, and run the same command again.",
            file=sys.stderr,
        )


# --- the server -------------------------------------------------------------------------------------------------------


@contextmanager
def _server(arguments: argparse.Namespace) -> Generator[_Server, None, None]:
    """Name the server to ask; with --simulate, start one that lives until the block ends."""
    if arguments.simulate:
        if arguments.url or arguments.token_file:
            raise _UsageError("--simulate starts a server, so it takes neither --url nor --token-file.")
        with _simulated() as url:
            yield _Server(url, "the simulator")
        return
    token = _token_in(arguments.token_file) if arguments.token_file else None
    if arguments.url:
        yield _Server(arguments.url, _without_credentials(arguments.url), token)
        return
    settings = load_settings()
    if token is None and settings.signalbox_access_token is not None:  # only for the server of these settings
        token = settings.signalbox_access_token.get_secret_value()
    url = f"http://127.0.0.1:{settings.signalbox_port}"
    yield _Server(url, url, token)


@contextmanager
def _simulated() -> Generator[str, None, None]:
    """Serve the simulator's answers on a loopback port, with both loops, and with data that is deleted at the end."""
    from signalbox.server.background import BackgroundServer

    with TemporaryDirectory(prefix="signalbox-eval-") as folder:
        settings = FixedSettings(
            signalbox_data_dir=Path(folder),
            signalbox_simulator_pace=0.0,
            signalbox_allow_loop_header=True,
            signalbox_log_level="error",
        )
        with BackgroundServer(settings) as server:
            yield server.url


def _token_in(path: Path) -> str:
    try:
        with path.open("rb") as file:
            token = file.read(_LARGEST_TOKEN).decode("ascii").strip()
    except OSError as error:
        raise _UsageError(f"The token file {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        token = ""
    if not token or not token.isprintable() or " " in token:
        raise _UsageError(f"The token file {path} must contain one token and nothing else.")
    return token


def _without_credentials(url: str) -> str:
    """Return a URL for the report: without user, password and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the server"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
