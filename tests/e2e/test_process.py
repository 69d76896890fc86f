"""The server as a process: clean shutdowns, rejected configurations, and one-sentence errors."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import ROOT
from tests.support.processes import WAIT, Process, command, environment, serving
from tests.support.running_app import read_until
from tests.support.scripted_upstream import ScriptedUpstream, holds
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.e2e

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


def refused(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """Run `serve`, expect exit status 2 and one sentence, and return the sentence."""
    ended = command("serve", *arguments, cwd=cwd, env=env)
    told = ended.stderr.decode()
    assert ended.returncode == 2, told
    assert told.startswith("signalbox: ")
    assert told.count("\n") == 1, told
    assert ended.stdout == b""
    return told


def uvicorn_until(what: bytes, cwd: Path, *arguments: str) -> tuple[subprocess.Popen[bytes], bytes]:
    """Run uvicorn's command until it has written a text; without the simulator, which would reduce its log."""
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "signalbox.app.main:create_app", "--factory", *arguments],
        cwd=cwd,
        env=environment(OPENROUTER_BASE_URL="http://127.0.0.1:9/v1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    seen = b""
    for line in process.stdout:
        seen += line
        if what in line:
            return process, seen
    raise AssertionError(seen.decode())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_streams_honestly(tmp_path: Path, number: signal.Signals) -> None:
    """On a signal every stream gets its ending, upstream connections close, and the process exits cleanly."""
    with ScriptedUpstream(holds) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url}
        if number is signal.SIGTERM:
            env["SIGNALBOX_DRAIN_SECONDS"] = "0"
        process = Process(["-m", "signalbox", "serve", "--port", "0"], tmp_path, env).ready()
        with process.client() as client, client.stream("POST", "/api/chat/stream", json=ASK) as response:
            chunks = response.iter_raw()
            seen = read_until(chunks, b"So far")
            process.process.send_signal(number)
            heard = check_stream(seen + b"".join(chunks))
        assert process.end() == (0 if number is signal.SIGTERM else 130)
        assert upstream.wait_until(lambda: len(upstream.left) == 1)
    assert (heard.done["status"], heard.done["code"], heard.text) == ("interrupted", "SERVER_SHUTDOWN", "So far")
    assert "Traceback" not in process.errors()


def test_the_default_start(tmp_path: Path) -> None:
    """Without a key and `.env`, the server uses the simulator, says so, and stores its data in ./data."""
    with serving(tmp_path, env={"PYTHONUNBUFFERED": "1"}) as process:  # so that it is a new interpreter, not a fork
        with process.client() as client:
            heard = check_stream(client.post("/api/chat/stream", json={**ASK, "prompt": "What is 6*7?"}).content)
            assert client.get("/health/live").json()["status"] == "live"
            assert client.get("/health/ready").status_code == 200
        assert any("simulator" in line for line in process.printed)
    assert heard.done["simulated"] is True
    assert (tmp_path / "data").is_dir()


def test_one_line_is_logged_per_run(tmp_path: Path) -> None:
    """The log has one JSON line per run, with its id and numbers and without its prompt."""
    with serving(tmp_path) as process, process.client() as client:
        ids = [client.post("/api/chat/stream", json=ASK).headers["x-run-id"] for _ in range(3)]
        client.post("/api/chat/stream", json={**ASK, "prompt": "canary-prompt-99", "model": "openai/sim-error-500"})
    lines = [json.loads(line) for line in process.errors().splitlines()]
    runs = [line for line in lines if line["event"] == "run.finished"]
    assert [run["run_id"] for run in runs[:3]] == ids
    assert len(runs) == 4
    assert {"status", "code", "model", "steps", "seconds", "cost", "simulated", "timestamp"} <= set(runs[0])
    assert (runs[3]["status"], runs[3]["code"], runs[3]["attempts"]) == ("error", "UPSTREAM_ERROR", 3)
    assert "canary" not in process.errors()
    assert "Hello!" not in process.errors()


def test_a_key_without_a_base_url_is_openrouters(tmp_path: Path) -> None:
    """A key selects OpenRouter; a custom base URL needs no key. Neither starts the simulator."""
    with (
        ScriptedUpstream(holds) as upstream,
        serving(tmp_path, env={"OPENROUTER_BASE_URL": upstream.base_url}) as process,
    ):
        with process.client() as client:
            assert client.get("/health/ready").json()["simulated"] is False
        assert not any("simulator" in line for line in process.printed)


def test_a_bind_beyond_this_machine_needs_a_token(tmp_path: Path) -> None:
    """Without a token, the server does not listen on other interfaces: any client could spend the key."""
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        assert "SIGNALBOX_ACCESS_TOKEN" in refused(tmp_path, "--host", host, "--port", "0")
    assert "SIGNALBOX_ACCESS_TOKEN" in refused(tmp_path, "--port", "0", env={"SIGNALBOX_HOST": "0.0.0.0"})


def test_a_bind_beyond_this_machine_asks_for_its_token(tmp_path: Path) -> None:
    """With a token it listens and every /api route requires the token; an unknown host name is still rejected."""
    env = {"SIGNALBOX_ACCESS_TOKEN": "a-token", "SIGNALBOX_ALLOWED_HOSTS": "box.example"}
    with serving(tmp_path, "--host", "0.0.0.0", env=env) as process:
        url = process.url.replace("0.0.0.0", "127.0.0.1")
        with httpx.Client(base_url=url, trust_env=False, verify=False) as client:
            assert client.get("/api/runs").status_code == 401
            assert client.post("/api/chat/stream", json=ASK).status_code == 401
            token = {"authorization": "Bearer a-token"}
            assert client.get("/api/runs", headers=token).status_code == 200
            assert client.get("/api/runs", headers={**token, "host": "box.example"}).status_code == 200
            assert client.get("/api/runs", headers={**token, "host": "evil.example"}).status_code == 403
            assert client.get("/health/live").status_code == 200
        assert "a-token" not in process.errors() + "".join(process.printed)


@pytest.mark.parametrize(
    ("arguments", "env"),
    [(["--workers", "2"], {}), ([], {"WEB_CONCURRENCY": "2"})],
)
def test_several_workers_are_refused(tmp_path: Path, arguments: list[str], env: dict[str, str]) -> None:
    """Several workers on SQLite are rejected, because they could not see each other's runs."""
    told = refused(tmp_path, "--port", "0", *arguments, env=env)
    assert "one worker" in told
    assert "DATABASE_URL" in told


@pytest.mark.parametrize(("arguments", "env"), [(["--workers", "-1"], {}), ([], {"WEB_CONCURRENCY": "0"})])
def test_a_number_of_workers_that_cannot_be(tmp_path: Path, arguments: list[str], env: dict[str, str]) -> None:
    """Fewer than one worker is rejected."""
    assert "--workers" in refused(tmp_path, "--port", "0", *arguments, env=env)


def test_several_workers_of_uvicorn_are_refused_too(tmp_path: Path) -> None:
    """`uvicorn --workers 2` fails with the same error, and no second worker serves."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, seen = uvicorn_until(b"one worker", tmp_path, "--workers", "2", "--port", str(port))
    process.terminate()
    process.communicate(timeout=WAIT)
    assert seen.count(b"Application startup complete") <= 1


def test_the_factory_serves_with_one_worker(tmp_path: Path) -> None:
    """`uvicorn --factory` works with one worker."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, _ = uvicorn_until(b"Uvicorn running", tmp_path, "--port", str(port))
    try:
        assert httpx.get(f"http://127.0.0.1:{port}/health/ready", trust_env=False).status_code == 200
    finally:
        process.terminate()
        process.communicate(timeout=WAIT)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """The error names the port and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(tmp_path, "--port", str(port))
    assert f"127.0.0.1:{port} is already in use" in told
    assert "--port" in told


@pytest.mark.parametrize(
    "arguments", [["--port", "70000"], ["--port", "-1"], ["--host", "no.such.host.invalid", "--port", "0"]]
)
def test_an_address_that_cannot_be(tmp_path: Path, arguments: list[str]) -> None:
    """An invalid address is rejected before binding and without a traceback."""
    ended = command("serve", *arguments, cwd=tmp_path, env={"SIGNALBOX_ACCESS_TOKEN": "t"})
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr
    assert b"--port" in ended.stderr or b"port" in ended.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"OPENROUTER_API_KEY sk-or-v1-canary\n", "Line 1"),
        (b"A=1\nB='open\n", "Line 2"),
        (b"SIGNALBOX_PORT=many\n", "SIGNALBOX_PORT"),
        (b"OPENROUTER_BASE_URL=openrouter.ai/api/v1\n", "OPENROUTER_BASE_URL"),
        (b"OPENROUTER_TIMEOUT=-1\n", "OPENROUTER_TIMEOUT"),
        (b"TOOL_LOOP_V2=perhaps\n", "TOOL_LOOP_V2"),
        (b"SIGNALBOX_LOG_LEVEL=loud\n", "SIGNALBOX_LOG_LEVEL"),
        (b"OPENROUTER_X_TITLE=\xff\xfe\n", "UTF-8"),
    ],
)
def test_a_broken_env_file(tmp_path: Path, text: bytes, said: str) -> None:
    """The error names the line or the setting, and never contains the value of a key."""
    (tmp_path / ".env").write_bytes(text)
    told = refused(tmp_path, "--port", "0")
    assert said in told
    assert "canary" not in told


def test_an_env_file_that_is_a_folder(tmp_path: Path) -> None:
    """An `.env` that cannot be read gives an error that says so."""
    (tmp_path / ".env").mkdir()
    assert ".env" in refused(tmp_path, "--port", "0")


def test_the_environment_goes_before_the_env_file(tmp_path: Path) -> None:
    """A variable of the environment overrides the file, unless it is empty."""
    (tmp_path / ".env").write_text("SIGNALBOX_DATA_DIR=from-file\nSIGNALBOX_LOG_LEVEL=loud\n")
    env = {"SIGNALBOX_LOG_LEVEL": "error", "SIGNALBOX_DATA_DIR": ""}
    with serving(tmp_path, env=env):
        assert (tmp_path / "from-file").is_dir()


def test_a_data_folder_that_cannot_be(tmp_path: Path) -> None:
    """If a file has the folder's path, the error names the setting; exit status 2."""
    (tmp_path / "data").write_text("a file")
    told = refused(tmp_path, "--port", "0")
    assert "SIGNALBOX_DATA_DIR" in told
    assert "data" in told


def test_the_package_is_run_from_the_repository() -> None:
    """The tests run the code of this repository, not an installed package."""
    ended = subprocess.run(
        [sys.executable, "-c", "import signalbox; print(signalbox.__file__)"],
        env=environment(),
        capture_output=True,
        check=True,
    )
    assert Path(ended.stdout.decode().strip()).is_relative_to(ROOT / "backend")


@pytest.mark.e2e
def test_a_start_names_typos_and_goes_on(tmp_path: Path) -> None:
    """A misspelt setting gives a line on standard error that suggests the right name."""
    (tmp_path / ".env").write_text("SIGNALBOX_PROT=8001\n")
    with serving(tmp_path, env={"TOOL_LOP_V2": "false"}) as process:
        said = process.errors()
    assert "signalbox: .env sets SIGNALBOX_PROT, which is not a setting; did you mean SIGNALBOX_PORT?\n" in said
    assert "signalbox: The environment sets TOOL_LOP_V2, which is not a setting; did you mean TOOL_LOOP_V2?\n" in said
