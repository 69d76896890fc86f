"""Install the clients, start Signalbox over its simulator, and run every client's checks and the snippets of the docs.

Arguments select clients by the beginnings of their names; `docs` are the snippets.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fastapi import Request, Response
from signalbox.simulator.http.server import BackgroundSimulator
from starlette.middleware.base import RequestResponseEndpoint

from tests.clients import ag_ui_streams, ai_sdk_streams, assistant_ui_streams
from tests.clients.environments import HERE, NODE, install_node, install_python, node_page, python_of
from tests.clients.snippets import ENVIRONMENTS, snippets
from tests.scenarios.embedding.hosts import host_of, mounted, serving_host
from tests.support.processes import serving

_SECONDS = 180
_SIDE_BY_SIDE = 2


@dataclass(frozen=True)
class Client:
    """A client, the program that uses it, and the environment of a Python client.

    With a `prefix`, the server is mounted there in another app, behind a middleware of this app. With `of_simulator`,
    the client uses the simulator's native APIs instead of Signalbox.
    """

    name: str
    program: tuple[str, ...]
    environment: str = ""
    prefix: str = ""
    of_simulator: bool = False

    def install(self) -> None:
        install_python(self.environment) if self.environment else install_node()

    def command(self, url: str) -> list[str]:
        arguments = [argument.format(url=url) for argument in self.program]
        if self.environment:
            return [str(python_of(self.environment)), str(HERE / "python" / arguments[0])]
        return [str(node_page().bin / "node"), *arguments]


AI_SDK_VERSIONS, AG_UI_VERSIONS = ("7", "6", "5"), ("1", "0")
CANARY = ("node_modules/compatcanary/src/cli.js", "scan", "--base-url", "{url}/v1", "--model", "openai/sim")
CLIENTS = (
    Client("llm", ("llm_command.py",), "llm"),
    Client("llamaindex", ("llama_index_sdk.py",), "llama-index"),
    Client("litellm", ("litellm_sdk.py",), "litellm"),
    Client("langchain", ("langchain_openai_sdk.py",), "langchain"),
    Client("openai-python", ("openai_sdk.py",), "openai"),
    Client("openai-python mounted", ("openai_sdk.py",), "openai", prefix="/team/chat"),
    Client("openai-python 2", ("openai_sdk.py",), "openai-2"),
    Client("openrouter-python", ("openrouter_sdk.py",), "openrouter"),
    Client("openai-python simulator", ("openai_simulator.py",), "openai", of_simulator=True),
    Client("anthropic-python simulator", ("anthropic_simulator.py",), "anthropic", of_simulator=True),
    Client("google-genai simulator", ("google_genai_simulator.py",), "google-genai", of_simulator=True),
    Client("openai-js", ("openai_sdk.mjs",)),
    Client("langchain-js", ("langchain_sdk.mjs",)),
    Client("ai-sdk openai-compatible", ("ai_sdk.mjs", "openai-compatible")),
    Client("ai-sdk openrouter", ("ai_sdk.mjs", "openrouter")),
    Client("librechat", ("librechat_config.mjs",)),
    *(Client(f"ai-sdk pages {version}", ("ai_sdk_pages.mjs", version)) for version in AI_SDK_VERSIONS),
    Client("assistant-ui", ("assistant_ui.mjs",)),
    *(Client(f"ag-ui {version}", ("ag_ui.mjs", version)) for version in AG_UI_VERSIONS),
    Client("copilotkit", ("copilotkit.mjs",)),
    Client("compatcanary", (*CANARY, "--profile", "chat")),
)


@dataclass(frozen=True)
class Outcome:
    """What a client showed."""

    name: str
    checks: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """Format it as one line, with the failures below."""
        result = f"{len(self.failures)} FAILED" if self.failures else "all well"
        checks = ", ".join(self.checks)
        return "\n".join([f"── {self.name}: {result}, {self.seconds:.1f} s ({checks})", *self.failures])


def run_client(client: Client) -> Outcome:
    """Run a client's program against a separate server."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder), client) as url:
        return _run(client.name, client.command(url), url, started)


@contextmanager
def _served(folder: Path, client: Client) -> Iterator[str]:
    """Serve what the client uses: the simulator, or Signalbox, mounted if there is a prefix; yield the URL."""
    if client.of_simulator:
        with BackgroundSimulator(list_faults=False) as simulator:
            yield f"http://{simulator.host}:{simulator.port}"
    elif client.prefix:
        with _mounted(folder, client.prefix) as url:
            yield url
    else:
        with serving(folder) as server:
            yield server.url


@contextmanager
def _mounted(folder: Path, prefix: str) -> Iterator[str]:
    """Serve an app with a middleware in which Signalbox is mounted; yield Signalbox's URL."""
    logging.getLogger("signalbox").setLevel(logging.CRITICAL)  # what fails is in the outcome
    chat = mounted(folder, signalbox_simulator_pace=0.012)
    host = host_of(chat)

    @host.middleware("http")
    async def name_host(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers["x-host"] = "team"
        return response

    host.mount(prefix, chat)
    with serving_host(host) as client:
        yield f"{str(client.base_url).rstrip('/')}{prefix}"


def run_streams(name: str, write: Callable[[Path], None], *program: str) -> Outcome:
    """Read streams with a client's parser, without a server."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        streams = Path(folder) / "streams.json"
        write(streams)
        return _run(name, [str(node_page().bin / "node"), *program, str(streams)], "", started)


def stream_jobs() -> dict[str, Callable[[], Outcome]]:
    """Return what reads streams, by name."""
    jobs: dict[str, Callable[[], Outcome]] = {}
    for version in AI_SDK_VERSIONS:
        name = f"ai-sdk streams {version}"
        jobs[name] = partial(run_streams, name, ai_sdk_streams.write_streams, "ai_sdk_streams.mjs", version)
    for version in AG_UI_VERSIONS:
        name = f"ag-ui streams {version}"
        write = partial(ag_ui_streams.write_streams, version=version)
        jobs[name] = partial(run_streams, name, write, "ag_ui_streams.mjs", version)
    name = "assistant-ui streams"
    jobs[name] = partial(run_streams, name, assistant_ui_streams.write_streams, "assistant_ui_streams.mjs")
    return jobs


def _run(name: str, command: Sequence[str], url: str, started: float) -> Outcome:
    """Run a program; read its results, a line of JSON for each check."""
    done = subprocess.run(
        command,
        cwd=NODE,
        env={**os.environ, "SIGNALBOX_URL": url, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"check"')]
    failures = [f"  {result['check']}: {result['error']}" for result in results if result["error"]]
    if done.returncode and not failures:
        failures = [done.stdout, done.stderr]
    checks = tuple(result["check"] for result in results)
    return Outcome(name, checks or ("its own suite",), tuple(failures), time.monotonic() - started)


def run_snippets() -> Outcome:
    """Run the code blocks of the docs."""
    started = time.monotonic()
    checks: list[str] = []
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        for snippet in snippets():
            checks.append(snippet.name)
            if problem := snippet.run(server.url):
                failures.append(f"  {snippet.name}\n{problem}")
    return Outcome("docs", tuple(checks), tuple(failures), time.monotonic() - started)


def main(arguments: Sequence[str]) -> int:
    """Run all clients, or those that are named."""
    clients = [client for client in CLIENTS if not arguments or client.name.startswith(tuple(arguments))]
    has_docs = not arguments or "docs" in arguments
    environments = {client.environment for client in clients if client.environment}
    environments |= {*ENVIRONMENTS.values(), "openai"} if has_docs else set()
    started = time.monotonic()
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        list(pool.map(install_python, sorted(environments)))
    install_node()
    print(f"── installed in {time.monotonic() - started:.1f} s", flush=True)
    jobs: list[Callable[[], Outcome]] = [run_snippets] if has_docs else []
    jobs += [partial(run_client, client) for client in clients]
    jobs += [job for name, job in stream_jobs().items() if not arguments or name.startswith(tuple(arguments))]
    failed = False
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        for outcome in pool.map(lambda job: job(), jobs):
            print(outcome, flush=True)
            failed = failed or bool(outcome.failures)
    print(f"── {len(jobs)} clients in {time.monotonic() - started:.1f} s: {'FAILED' if failed else 'all well'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
