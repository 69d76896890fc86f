"""`signalbox doctor`: what each check finds, that nothing is changed by it, and that nothing makes it wait."""

import asyncio
import json
import re
import socket
import sqlite3
import threading
from collections import Counter, namedtuple
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from signalbox import __version__
from signalbox.app.config import Settings, unknown_in_environment
from signalbox.commands.doctor import examination, folder
from signalbox.commands.doctor.access import check_access
from signalbox.commands.doctor.database import check_database
from signalbox.commands.doctor.examination import examine
from signalbox.commands.doctor.finding import Finding
from signalbox.commands.doctor.folder import check_folder
from signalbox.commands.doctor.installation import check_page, read_settings
from signalbox.commands.doctor.report import all_passed, as_json, as_text
from signalbox.server.serve import serve
from signalbox.services.search.docs_index import DocsIndex
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.store.engines import postgres_check
from signalbox.store.engines.postgres_check import ServerFound

from tests.support.postgres import Server
from tests.support.processes import command
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says

KEY = "sk-or-v1-canary-of-the-doctor"
DATABASE = "signalbox.db"


@pytest.fixture
def silent() -> Iterator[int]:
    """Listen on a port, accept what comes (the kernel does), and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def examined(settings: Settings) -> dict[str, Finding]:
    """Run all checks; the worst finding of each name."""
    found: dict[str, Finding] = {}
    for one in asyncio.run(examine(settings)):
        if one.about not in found or found[one.about].state == "ok":
            found[one.about] = one
    return found


def near(data: Path, **given: Any) -> Settings:
    """Make settings whose port is any free one."""
    return settings_for(data, **{"signalbox_port": 0, **given})


def tree(root: Path) -> dict[str, tuple[int, int]]:
    """Note every file with its size and the time of its last change, and every folder."""
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in [root, *root.rglob("*")]}


def test_a_healthy_server(tmp_path: Path) -> None:
    """Beside a server at work every check is well: its database, its lock, its port, its upstream, one real search."""
    with BackgroundSimulator(pace=0) as simulator:
        upstream = {"openrouter_base_url": simulator.base_url, "openrouter_api_key": KEY}
        with RunningApp(settings_for(tmp_path, **upstream)) as app:
            app.ask()
            found = examined(settings_for(tmp_path, signalbox_port=app.port, **upstream))
    assert {one.state for one in found.values()} == {"ok"}, found
    assert "accepts the key, which has no spending limit; $0.00 spent" in found["key"].found
    assert "A server is using" in found["lock"].found
    assert "is intact; its tables are up to date" in found["database"].found
    assert found["port"].found == f"Signalbox {__version__} answers at 127.0.0.1:{app.port}."
    assert found["loop"].found == "Every run uses the V2 loop: TOOL_LOOP_V2=true is set."
    assert "docs answers; it searches Signalbox's own documentation" in found["search"].found


def test_nothing_is_made_and_nothing_is_changed(tmp_path: Path) -> None:
    """Neither before the first start, nor beside a stopped server's files, nor beside one that was killed."""
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
        (_refuses, "/api/v1", "fail", "Check OPENROUTER_API_KEY."),
        (_tells(0.25), "/api/v1", "warn", "$0.25 left; $12.50 spent so far"),
        (_tells(-1), "/api/v1", "fail", "$0.00 left"),
        (_tells(20), "/api/v1", "ok", "$20.00 left"),
        (_lists, "/v1", "ok", "accepts the key and lists 1 model."),
        (_lists, "/elsewhere/v1", "fail", "OPENROUTER_BASE_URL"),
    ],
)
def test_the_key(tmp_path: Path, answers: Any, path: str, state: str, said: str) -> None:
    """It is asked for where there is such a question, else the models are; the key itself is never shown."""
    with ScriptedUpstream(says("never"), models=answers, path=path) as upstream:
        settings = near(tmp_path, openrouter_base_url=upstream.base_url, openrouter_api_key=KEY)
        found = examined(settings)["key"]
        assert not upstream.asked
    assert (found.state, said in f"{found.found} {found.todo}") == (state, True), found
    assert KEY not in as_text([found]) + as_json([found])


def test_without_a_key_the_simulator_answers(tmp_path: Path) -> None:
    """That is worth a word, and no failure."""
    found = examined(near(tmp_path))["key"]
    assert found.state == "warn"
    assert "simulator" in found.found


def _database(data: Path) -> Path:
    with RunningApp(near(data)) as app:
        app.ask()
    return data / DATABASE


def test_the_database_file(tmp_path: Path) -> None:
    """Tables of an earlier version are fine, those of a later one fail, as do a damaged file and a foreign one."""
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
def test_a_server_that_is_late_or_asleep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: float, state: str
) -> None:
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
    """A file in its place fails, what others may read or write is told with the command that closes it."""
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
def test_the_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, state: str) -> None:
    """Below 1 GB it is worth a word, below 50 MB it fails."""
    usage = namedtuple("usage", "free")  # noqa: PYI024 - as shutil's
    monkeypatch.setattr(folder.shutil, "disk_usage", lambda _: usage(free))
    found = next(one for one in check_folder(near(tmp_path)) if one.about == "disk")
    assert found.state == state
    assert "are free" in found.found


def test_a_network_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite on NFS is warned of; with PostgreSQL it does not matter."""
    mounts = tmp_path / "mounts"
    data = tmp_path / "da ta"
    data.mkdir()
    place = str(data.resolve()).replace(" ", "\\040")
    mounts.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {place} rw shared:1 - nfs4 host:/x rw\n")
    monkeypatch.setattr(folder, "_MOUNTS", mounts)
    assert next(one for one in check_folder(near(data)) if "nfs4" in one.found).state == "warn"
    shared = near(data, database_url="postgresql://localhost/x")
    assert not [one for one in check_folder(shared) if "nfs4" in one.found]


def test_the_lever(tmp_path: Path) -> None:
    """What the next run uses is told in the API's words; a lever that cannot be read counts as off, with a warning."""
    lever = tmp_path / "tool_loop_v2.json"
    lever.write_text('{"state": "percent", "percent": 20}')
    found = examined(near(tmp_path))["loop"]
    assert (found.state, found.found) == (
        "ok",
        "20 % of the conversations use the V2 loop, the others the legacy loop.",
    )
    lever.write_text('{"state": "up"}')
    found = examined(near(tmp_path))["loop"]
    assert found.state == "warn"
    assert "counts as off. Every run uses the legacy loop: an override is set." in found.found


def test_search_that_is_not_set_up(tmp_path: Path) -> None:
    """It is said why there is none, and which tools are missing."""
    found = examined(near(tmp_path, search_backend="brave"))
    assert found["search"].state == "warn"
    assert "BRAVE_API_KEY is not set" in found["search"].found
    assert "search_web is not offered" in found["tools"].found
    assert "Offered are read_url" in found["tools"].found


def test_a_folder_that_takes_long_to_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a warning, and nobody waits for the end of it."""
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
    """One real query is sent; a service that refuses the key is a failure."""

    async def refuse(exchange: Exchange) -> None:
        await exchange.whole(401, b"{}")

    with ScriptedUpstream(says("never"), models=refuse) as service:
        settings = near(tmp_path, search_backend="tavily", tavily_api_key=KEY, tavily_base_url=service.base_url)
        found = examined(settings)["search"]
        assert len(service.catalogues) == 1
    assert (found.state, "rejected the API key" in found.found) == ("fail", True)


def test_the_port(tmp_path: Path) -> None:
    """It is free, another's, or an address that is not ours."""
    with ScriptedUpstream(says("never")) as other:
        found = examined(settings_for(tmp_path, signalbox_port=other.port))["port"]
        assert (found.state, "Another program answers" in found.found) == ("fail", True)
    free = examined(settings_for(tmp_path, signalbox_port=other.port))["port"]
    assert (free.state, free.found) == ("ok", f"127.0.0.1:{other.port} is free.")
    absent = settings_for(tmp_path, signalbox_host="192.0.2.1", signalbox_port=other.port)
    found = asyncio.run(_port_without_a_network(absent))
    assert (found.state, "cannot be used" in found.found) == ("fail", True)


async def _port_without_a_network(settings: Settings) -> Finding:
    """Ask for a port of an address whose packets go nowhere, without waiting for them."""
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
    """What lets in more than is meant is named."""
    found = {one.about: one for one in check_access(near(tmp_path, **given))}
    assert found[about].state == state
    assert bool(found[about].todo) == (state != "ok")


def _broken(_: object) -> list[Finding]:
    raise ZeroDivisionError


def test_nothing_makes_it_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that never answers fails its own check when the time is over; a check that breaks hides no other."""
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
    """Slow servers cost their longest timeout, not the sum: each of these checks ends only if all have begun."""
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


def test_settings_that_cannot_be_used(tmp_path: Path) -> None:
    """They are a finding like any other; what needs no settings is told all the same."""
    (tmp_path / ".env").write_text("SIGNALBOX_PORT=many\n")
    ended = command("doctor", cwd=tmp_path)
    told = ended.stdout.decode()
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert 'The setting SIGNALBOX_PORT is "many" and cannot be used: must be a whole number.' in told
    assert "To do: Correct it in .env or in the environment.\n" in told
    assert "ok    python" in told


def test_all_mistakes_are_named_in_one_round(tmp_path: Path) -> None:
    """Two bad values and a typo are three findings; a key is not quoted."""
    (tmp_path / ".env").write_text(
        f"SEARCH_BACKEND=bravo\nOPENROUTER_API_KEY={KEY} {KEY}\nSIGNALBOX_PROT=8001\nSIGNALBOX_LOG_LEVEL=loud\n"
    )
    ended = command("doctor", cwd=tmp_path)
    told = " ".join(ended.stdout.decode().split())
    assert 'SEARCH_BACKEND is "bravo" and cannot be used: must be one of brave, tavily' in told
    assert "did you mean brave? To do: Correct it in .env" in told
    assert "OPENROUTER_API_KEY cannot be used: must be one word of printable ASCII." in told
    assert 'SIGNALBOX_LOG_LEVEL is "loud" and cannot be used: must be debug, info, warning or error.' in told
    assert "Did you mean SIGNALBOX_PORT?" in told
    assert "The other checks are skipped until the settings are valid." in told
    assert "canary" not in told


def test_a_password_that_breaks_its_address(tmp_path: Path) -> None:
    """A slash in it makes its beginning look like a port: it is said what to write instead, and it is not quoted."""
    ended = command("doctor", cwd=tmp_path, env={"DATABASE_URL": "postgresql://me:canary/x@db.example.org/box"})
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"write / in a password as %2F" in ended.stdout
    assert b"canary" not in ended.stdout


def test_a_misspelt_setting(tmp_path: Path) -> None:
    """It is a warning, and warnings are no failure: exit status 0."""
    (tmp_path / ".env").write_text("SIGNALBOX_PROT=8001\nSIGNALBOX_PORT=0\n")
    ended = command("doctor", cwd=tmp_path)
    told = ended.stdout.decode()
    assert ended.returncode == 0, told
    assert "warn  settings     .env sets SIGNALBOX_PROT, which is not a setting. Did you mean SIGNALBOX_PORT?" in told
    assert "To do: Rename it to SIGNALBOX_PORT." in told
    assert told.rstrip().endswith(" 0 fail.")


def test_a_misspelt_setting_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A typo in the environment is a warning; a name that no setting resembles is only said."""
    monkeypatch.chdir(tmp_path)
    for name in unknown_in_environment():  # where the recordings are, for one
        monkeypatch.delenv(name)
    assert "contain no unknown settings" in read_settings()[1][0].found
    monkeypatch.setenv("SIGNALBOX_MAX_RUN", "5")
    monkeypatch.setenv("OPENROUTER_ELSEWHERE", "x")
    typo, other = read_settings()[1]
    assert (typo.state, typo.todo) == ("warn", "Rename it to SIGNALBOX_MAX_RUNS.")
    assert typo.found.startswith("The environment sets SIGNALBOX_MAX_RUN, which is not a setting.")
    assert (other.state, other.todo) == ("ok", "")
    assert other.found == "The environment sets OPENROUTER_ELSEWHERE, which is not a setting and is ignored."


@pytest.mark.parametrize("is_repository", [True, False])
def test_advice_fits_how_it_was_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_repository: bool) -> None:
    """A package has neither .env.example nor ./just, so nothing points there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signalbox.app.installation.is_repository", lambda: is_repository)
    monkeypatch.setattr("signalbox.commands.doctor.installation.page_folder", lambda: None)
    (tmp_path / ".env").write_text("SIGNALBOX_ELSE=1\n")
    told = " ".join(one.todo for one in [check_page(), *read_settings()[1]])
    assert (".env.example" in told, "./just" in told) == (is_repository, is_repository)
    assert ("/guide/api.md#settings" in told, "pip install" in told) == (not is_repository, not is_repository)


def test_host_and_port_are_those_of_serve(tmp_path: Path, silent: int) -> None:
    """What `serve` was told on its command line, the doctor can be told as well."""
    ended = command("doctor", "--host", "127.0.0.2", "--port", "0", cwd=tmp_path, env={"SIGNALBOX_PORT": str(silent)})
    assert (ended.returncode, b"127.0.0.2: any free port will be used" in ended.stdout) == (0, True)


@pytest.mark.parametrize("place", ["signalbox_data_dir", "signalbox_notes_dir"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, place: str) -> None:
    """Where nothing can be made no folder can, whoever asks; the folder that notes were given is looked at, too."""
    about = {"signalbox_data_dir": "data folder", "signalbox_notes_dir": "notes"}[place]
    settings = near(tmp_path).model_copy(update={place: Path("/proc/here/data")})
    assert {one.about for one in check_folder(settings) if one.state == "fail"} == {about}
    (tmp_path / "file").write_text("x")
    settings = near(tmp_path).model_copy(update={place: tmp_path / "file" / "data"})
    assert {one.about for one in check_folder(settings) if one.state == "fail"} == {about}


def test_what_a_start_refuses_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several workers on SQLite, and a token's file that is a folder or holds something else; nothing is changed."""
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    kept = tmp_path / "admin-token"
    kept.mkdir()
    found = examined(near(tmp_path))
    assert (found["workers"].state, "one worker on SQLite" in found["workers"].found) == ("fail", True)
    assert (found["tokens"].state, "Is a directory" in found["tokens"].found) == ("fail", True)
    monkeypatch.setenv("WEB_CONCURRENCY", "1")
    kept.rmdir()
    kept.write_text("two words")
    kept.chmod(0o640)
    found = examined(near(tmp_path))
    assert "workers" not in found
    assert "does not contain one word" in found["tokens"].found
    assert kept.stat().st_mode & 0o777 == 0o640
    assert "tokens" not in examined(near(tmp_path, signalbox_admin_token="x" * 20))


@pytest.mark.parametrize(("host", "port"), [("a..b", 8000), ("a" * 300, 0)])
def test_a_host_that_is_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str, port: int
) -> None:
    """The doctor says the sentence with which a start refuses it."""
    found = asyncio.run(examination.check_port(near(tmp_path, signalbox_host=host, signalbox_port=port)))
    assert [(one.state, one.found) for one in found] == [("fail", f"{host} is not a valid host name.")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGNALBOX_ACCESS_TOKEN", "x" * 20)
    assert serve(host, port) == 2
    assert f"signalbox: {found[0].found}" in capsys.readouterr().err


def test_the_report() -> None:
    """Names stand in a column, what is to be done below what was found; only a failure is one."""
    found = [Finding("key", "ok", "Fine."), Finding("data folder", "warn", "Hm.", "Look.")]
    assert as_text(found) == (
        "ok    key          Fine.\nwarn  data folder  Hm.\n                   To do: Look.\n\n1 ok, 1 warn, 0 fail.\n"
    )
    assert json.loads(as_json(found))["checks"][1] == {
        "about": "data folder",
        "state": "warn",
        "found": "Hm.",
        "todo": "Look.",
    }
    assert as_text([Finding("key", "ok", "One\nline.")]).startswith("ok    key  One line.\n")
    assert all_passed(found)
    assert not all_passed([*found, Finding("port", "fail", "Taken.", "Choose.")])
