"""`signalbox doctor`: checks run concurrently, each with a time limit."""

import asyncio
import json
import threading
from pathlib import Path

import pytest
from signalbox.commands.doctor import examination
from signalbox.commands.doctor.finding import Finding

from tests.support.doctor import examined, near
from tests.support.processes import command

KEY = "sk-or-v1-canary-of-the-doctor"


def _broken(_: object) -> list[Finding]:
    raise ZeroDivisionError


def test_a_check_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that never answers fails its check after the time limit; a check that raises hides no other."""
    release = threading.Event()
    monkeypatch.setattr(examination, "SECONDS", 0.5)
    monkeypatch.setattr(examination, "check_folder", lambda _: release.wait())
    monkeypatch.setattr(examination, "check_loop", _broken)
    found = examined(near(tmp_path))
    release.set()
    assert (found["data folder"].state, "did not finish" in found["data folder"].found) == ("fail", True)
    assert found["loop"].found == "This check failed with an internal error (ZeroDivisionError)."
    assert found["access"].state == "ok"


def test_checks_run_concurrently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks take as long as the slowest one: each of these ends only if all have begun."""
    everyone = asyncio.Barrier(4)

    async def meet(*_: object) -> list[Finding]:
        await everyone.wait()
        return []

    for name in ("check_key", "check_database", "check_search", "check_port"):
        monkeypatch.setattr(examination, name, meet)
    assert examined(near(tmp_path)).keys().isdisjoint({"key", "database", "search", "port"})


def test_listeners_that_never_answer(tmp_path: Path, silent: int) -> None:
    """Upstream, search, database and port never answer: each check reports its own timeout; exit status 1."""
    env = {
        "OPENROUTER_API_KEY": KEY,
        "OPENROUTER_BASE_URL": f"http://127.0.0.1:{silent}/api/v1",
        "SEARXNG_URL": f"http://127.0.0.1:{silent}",
        "DATABASE_URL": f"postgresql://someone:{KEY}@127.0.0.1:{silent}/box",
        "SIGNALBOX_PORT": str(silent),
    }
    ended = command("doctor", "--json", cwd=tmp_path, env=env)
    assert ended.returncode == 1
    report = json.loads(ended.stdout)
    states = {one["about"]: one for one in report["checks"]}
    assert {about for about, one in states.items() if one["state"] == "fail"} == {"key", "search", "database", "port"}
    assert all("not answer" in states[about]["found"] for about in ("key", "search", "database", "port"))
    assert KEY.encode() not in ended.stdout + ended.stderr
    assert not [*tmp_path.iterdir()]
