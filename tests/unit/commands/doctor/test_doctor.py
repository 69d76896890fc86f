"""`signalbox doctor`: the findings of each check, none of which changes anything."""

import asyncio
import json
import re
import sqlite3
import threading
from collections import Counter, namedtuple
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from signalbox import __version__
from signalbox.app.config import Settings
from signalbox.commands.doctor import examination, folder
from signalbox.commands.doctor.access import check_access
from signalbox.commands.doctor.database import check_database
from signalbox.commands.doctor.finding import Finding
from signalbox.commands.doctor.folder import check_folder
from signalbox.commands.doctor.report import as_json, as_text
from signalbox.services.search.docs_index import DocsIndex
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.store.engines import postgres_check
from signalbox.store.engines.postgres_check import ServerFound

from tests.support.doctor import examined, near
from tests.support.postgres import Server
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says

KEY = "sk-or-v1-canary-of-the-doctor"
DATABASE = "signalbox.db"


def tree(root: Path) -> dict[str, tuple[int, int]]:
    """Return all files with size and modification time, and all folders."""
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in [root, *root.rglob("*")]}


def test_a_healthy_server(tmp_path: Path) -> None:
    """Beside a running server every check passes: database, lock, port, upstream, one real search."""
    with BackgroundSimulator(pace=0) as simulator:
        upstream = {"openrouter_base_url": simulator.base_url, "openrouter_api_key": KEY}
        with RunningApp(settings_for(tmp_path, **upstream)) as app:
            app.ask()
            found = examined(settings_for(tmp_path, signalbox_port=app.port, signalbox_chromium="none", **upstream))
    assert {one.state for one in found.values()} == {"ok"}, found
    assert "accepts the key, which has no spending limit; $0.00 spent" in found["key"].found
    assert "A server is using" in found["lock"].found
    assert "is intact; its tables are up to date" in found["database"].found
    assert found["port"].found == f"Signalbox {__version__} answers at 127.0.0.1:{app.port}."
    assert found["loop"].found == "Every run uses the V2 loop: TOOL_LOOP_V2=true is set."
    assert "docs answers; it searches Signalbox's own documentation" in found["search"].found


def test_nothing_is_created_or_changed(tmp_path: Path) -> None:
    """Before the first start, beside a stopped server's files, and beside those of a killed one."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "does not exist yet" in examined(near(empty / "data"))["data folder"].found
    assert tree(empty).keys() == {str(empty)}
    with RunningApp(near(tmp_path / "data")) as app:
        app.ask()
        log = [app.parts.settings.signalbox_data_dir / f"{DATABASE}{end}" for end in ("", "-wal", "-shm")]
        crashed = tmp_path / "crashed"
        crashed.mkdir(mode=0o700)
        for file in log:
            (crashed / file.name).write_bytes(file.read_bytes())
    for left in (tmp_path / "data", crashed):
        before = tree(left)
        assert examined(near(left))["database"].state == "ok"
        after = tree(left)
        assert {name: size for name, (size, _) in after.items()} == {name: size for name, (size, _) in before.items()}
        # What SQLite works out anew in a killed server's -shm is no content of anybody.
        assert {name for name in after if after[name] != before[name]} <= {str(left / f"{DATABASE}-shm")}


async def _refuses(exchange: Exchange) -> None:
    await exchange.whole(401, json.dumps({"error": {"code": 401, "message": f"No such key: {KEY}"}}).encode())


def _tells(left: float | None) -> Any:
    async def script(exchange: Exchange) -> None:
        assert exchange.asked.path == "/api/v1/key"
        assert exchange.asked.headers["authorization"] == f"Bearer {KEY}"
        await exchange.whole(200, json.dumps({"data": {"limit_remaining": left, "usage": 12.5}}).encode())

    return script


async def _lists(exchange: Exchange) -> None:
    known = {"/v1/models": (200, b'{"data": [{"id": "llama"}]}')}
    await exchange.whole(*known.get(exchange.asked.path, (404, b"not found")))


@pytest.mark.parametrize(
    ("answers", "path", "state", "said"),
    [
        (_refuses, "/api/v1", "fail", "Check the API key (on a server: OPENROUTER_API_KEY or upstreams.toml)."),
        (_tells(0.25), "/api/v1", "warn", "$0.25 left; $12.50 spent so far"),
        (_tells(-1), "/api/v1", "fail", "$0.00 left"),
        (_tells(20), "/api/v1", "ok", "$20.00 left"),
        (_lists, "/v1", "ok", "accepts the key and lists 1 model."),
        (_lists, "/elsewhere/v1", "fail", "OPENROUTER_BASE_URL"),
    ],
)
def test_the_key(tmp_path: Path, answers: Any, path: str, state: str, said: str) -> None:
    """The key's account is queried, or the models if there are no accounts; the key is never shown."""
    with ScriptedUpstream(says("never"), models=answers, path=path) as upstream:
        settings = near(tmp_path, openrouter_base_url=upstream.base_url, openrouter_api_key=KEY)
        found = examined(settings)["key"]
        assert not upstream.asked
    assert (found.state, said in f"{found.found} {found.todo}") == (state, True), found
    assert KEY not in as_text([found]) + as_json([found])


def test_without_a_key_the_simulator_answers(tmp_path: Path) -> None:
    """A missing key is a note, not a failure."""
    found = examined(near(tmp_path))["key"]
    assert found.state == "warn"
    assert "simulator" in found.found


def _database(data: Path) -> Path:
    with RunningApp(near(data)) as app:
        app.ask()
    return data / DATABASE


def test_the_database_file(tmp_path: Path) -> None:
    """Tables of an earlier version pass; a later version, a damaged file and another file fail."""
    file = _database(tmp_path)
    for version, state, said in (("0001", "ok", "the next start migrates them"), ("9999", "fail", "a later version")):
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("UPDATE alembic_version SET version_num = ?", (version,))
        found = examined(near(tmp_path))["database"]
        assert (found.state, said in found.found) == (state, True), found
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[12288:])
    damaged = examined(near(tmp_path))["database"]
    assert (damaged.state, "\n" in damaged.found) == ("fail", False)
    file.write_bytes(b"This is a letter to a friend.\n" * 1000)
    assert "cannot be opened" in examined(near(tmp_path))["database"].found


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the time is up, the finding says that the check is incomplete."""
    _database(tmp_path)
    monkeypatch.setattr("signalbox.commands.doctor.database.SECONDS", -1.0)
    monkeypatch.setattr("signalbox.store.engines.sqlite_check._STEPS", 1)
    [found] = asyncio.run(check_database(near(tmp_path)))
    assert found.state == "ok"
    assert "could not be checked completely" in found.found


def test_a_postgres(tmp_path: Path, postgres: Server) -> None:
    """Version, notifications, clock and flag override are reported, and what is missing; no table is created."""
    empty = postgres.empty_database()
    found = examined(near(tmp_path, database_url=empty))
    assert {found[about].state for about in ("database", "wake-ups", "clock", "loop")} == {"ok"}, found
    assert re.search(r"runs PostgreSQL \d+.* and answers in \d+ ms; it has no tables yet", found["database"].found)
    assert postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=empty) == [(0,)]
    full = postgres.new_database()
    postgres.sql("INSERT INTO shared VALUES ('tool_loop_v2', '{\"state\": \"off\"}')", database=full)
    found = examined(near(tmp_path, database_url=full))
    assert "its tables are up to date" in found["database"].found
    assert found["loop"].found == "Every run uses the legacy loop: an override is set."
    postgres.sql("UPDATE alembic_version SET version_num = '9999'", database=full)
    assert examined(near(tmp_path, database_url=full))["database"].state == "fail"
    postgres.sql("CREATE ROLE guest LOGIN")
    guest = empty.replace("postgres@", "guest@")
    for url, said in (
        (postgres.url("nowhere"), "does not exist"),
        (postgres.url(user="stranger"), "stranger"),
        (guest, "may not create the missing tables"),
    ):
        found = examined(near(tmp_path, database_url=url))["database"]
        assert (found.state, said in found.found) == ("fail", True), found


@pytest.mark.parametrize(("ahead", "state"), [(-6.0, "warn"), (4.0, "ok"), (6.0, "warn")])
def test_a_slow_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: float, state: str) -> None:
    """Clocks more than 5 s apart, slow answers and lost notifications are warnings."""

    async def look(_: str) -> ServerFound:
        return ServerFound(
            "PostgreSQL 16", None, may_create=True, has_notifications=False, latency=0.2, ahead=ahead, override=b"up"
        )

    monkeypatch.setattr(postgres_check, "inspect_server", look)
    found = {one.about: one for one in asyncio.run(check_database(near(tmp_path, database_url="postgresql://x/y")))}
    assert found["clock"].state == state
    assert [found[about].state for about in ("wake-ups", "latency", "loop")] == ["warn"] * 3


def test_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in place of the folder fails; wide permissions are reported with the command that fixes them."""
    (tmp_path / "file").write_text("x")
    assert check_folder(near(tmp_path / "file" / "data"))[0].state == "fail"
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "admin-token").write_text("secret\n")
    (data / "admin-token").chmod(0o644)
    found = check_folder(near(data))[0]
    assert (found.state, found.todo) == ("warn", f"chmod go= {data / 'admin-token'}")
    data.chmod(0o777)
    assert check_folder(near(data))[0].todo == f"chmod go-w {data}"
    monkeypatch.setattr(folder.os, "open", _read_only)
    found = check_folder(near(data))[0]
    assert (found.state, "read-only file system" in found.found) == ("fail", True)


def _read_only(*_: object) -> int:
    raise OSError(30, "Read-only file system")


@pytest.mark.parametrize(("free", "state"), [(49e6, "fail"), (51e6, "warn"), (999e6, "warn"), (2e9, "ok")])
def test_the_free_disk_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, state: str) -> None:
    """Below 1 GB is a warning, below 50 MB a failure."""
    usage = namedtuple("usage", "free")  # noqa: PYI024 - as shutil's
    monkeypatch.setattr(folder.shutil, "disk_usage", lambda _: usage(free))
    found = next(one for one in check_folder(near(tmp_path)) if one.about == "disk")
    assert found.state == state
    assert "are free" in found.found


def test_a_network_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite on NFS is a warning; with PostgreSQL it does not matter."""
    mounts = tmp_path / "mounts"
    data = tmp_path / "da ta"
    data.mkdir()
    place = str(data.resolve()).replace(" ", "\\040")
    mounts.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {place} rw shared:1 - nfs4 host:/x rw\n")
    monkeypatch.setattr(folder, "_MOUNTS", mounts)
    assert next(one for one in check_folder(near(data)) if "nfs4" in one.found).state == "warn"
    shared = near(data, database_url="postgresql://localhost/x")
    assert not [one for one in check_folder(shared) if "nfs4" in one.found]


def test_the_flag_override(tmp_path: Path) -> None:
    """The finding has the API's sentence; an override that cannot be read counts as off, with a warning."""
    file = tmp_path / "tool_loop_v2.json"
    file.write_text('{"state": "percent", "percent": 20}')
    found = examined(near(tmp_path))["loop"]
    assert (found.state, found.found) == (
        "ok",
        "20 % of the conversations use the V2 loop, the others the legacy loop.",
    )
    file.write_text('{"state": "up"}')
    found = examined(near(tmp_path))["loop"]
    assert found.state == "warn"
    assert "counts as off. Every run uses the legacy loop: an override is set." in found.found


def test_search_that_is_not_set_up(tmp_path: Path) -> None:
    """The finding has the reason and the unavailable tools."""
    found = examined(near(tmp_path, search_backend="brave"))
    assert found["search"].state == "warn"
    assert "BRAVE_API_KEY is not set" in found["search"].found
    assert "search_web is not offered" in found["tools"].found
    assert "Offered are search_products, read_url" in found["tools"].found


def test_a_folder_that_takes_long_to_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit ends the check with a warning."""
    release, is_over = threading.Event(), threading.Event()

    def index(_: DocsIndex) -> Counter[str]:
        release.wait()
        is_over.set()
        return Counter({"guide": 1})

    monkeypatch.setattr(DocsIndex, "refresh", index)
    monkeypatch.setattr("signalbox.commands.doctor.searching.SECONDS", 0.2)
    found = examined(near(tmp_path))
    assert not is_over.is_set()
    release.set()
    assert found["search"].state == "warn"
    assert "takes more than 0.2 s" in found["search"].found
    assert found["tools"].state == "ok"


def test_search_that_fails(tmp_path: Path) -> None:
    """One real query is sent; a service that rejects the key is a failure."""

    async def refuse(exchange: Exchange) -> None:
        await exchange.whole(401, b"{}")

    with ScriptedUpstream(says("never"), models=refuse) as service:
        settings = near(tmp_path, search_backend="tavily", tavily_api_key=KEY, tavily_base_url=service.base_url)
        found = examined(settings)["search"]
        assert len(service.catalogues) == 1
    assert (found.state, "rejected the API key" in found.found) == ("fail", True)


def test_the_port(tmp_path: Path) -> None:
    """The port is free, in use, or an address of another machine."""
    with ScriptedUpstream(says("never")) as other:
        found = examined(settings_for(tmp_path, signalbox_port=other.port))["port"]
        assert (found.state, "Another program answers" in found.found) == ("fail", True)
    free = examined(settings_for(tmp_path, signalbox_port=other.port))["port"]
    assert (free.state, free.found) == ("ok", f"127.0.0.1:{other.port} is free.")
    absent = settings_for(tmp_path, signalbox_host="192.0.2.1", signalbox_port=other.port)
    found = asyncio.run(_port_without_a_network(absent))
    assert (found.state, "cannot be used" in found.found) == ("fail", True)


async def _port_without_a_network(settings: Settings) -> Finding:
    """Check a port of an unreachable address without waiting for a timeout."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio, "open_connection", _unreachable)
        return (await examination.check_port(settings))[0]


async def _unreachable(*_: object) -> None:
    raise OSError(113, "No route to host")


@pytest.mark.parametrize(
    ("given", "about", "state"),
    [
        ({}, "access", "ok"),
        ({"signalbox_host": "0.0.0.0"}, "access", "fail"),
        ({"signalbox_host": "0.0.0.0", "signalbox_access_token": "a" * 24}, "access", "ok"),
        ({"signalbox_host": "0.0.0.0", "signalbox_access_token": "a" * 24}, "hosts", "warn"),
        ({"signalbox_access_token": "short"}, "tokens", "warn"),
        ({"signalbox_allowed_hosts": "chat.example.org"}, "access", "warn"),
        ({"signalbox_allowed_hosts": "chat.example.org", "signalbox_require_token": True}, "access", "ok"),
        ({"signalbox_allowed_hosts": "*", "signalbox_access_token": "a" * 24}, "hosts", "warn"),
        ({"signalbox_allowed_origins": "http://chat.example.org"}, "origins", "warn"),
    ],
)
def test_access(tmp_path: Path, given: dict[str, Any], about: str, state: str) -> None:
    """Settings that allow more access than intended are reported."""
    found = {one.about: one for one in check_access(near(tmp_path, **given))}
    assert found[about].state == state
    assert bool(found[about].todo) == (state != "ok")
