"""The command `llm`: a model in `extra-openai-models.yaml`, its own tool loop, its exit status."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import BASE_URL, BOTH_TOOLS, CALCULATION, MODEL, expect_both_results, expect_cancelled, newest_run, report

MODELS = """
- model_id: {model}
  model_name: {model}
  api_base: {base_url}
  supports_tools: true
  headers: {{x-signalbox-tools: calculate}}
"""
FOLDER = tempfile.TemporaryDirectory()
PATH = Path(FOLDER.name)
NAMES = (MODEL, "unknown/model", "openai/sim-midstream-error", "openai/sim-stall")
(PATH / "extra-openai-models.yaml").write_text(
    "".join(MODELS.format(model=model, base_url=BASE_URL) for model in NAMES), encoding="utf-8"
)
ENVIRONMENT = {**os.environ, "LLM_USER_PATH": FOLDER.name}
TOOL = 'def get_weather(city: str) -> str:\n    "Return the weather of a city."\n    return "21 degrees and sunny"\n'


def _command(*arguments: str, model: str = MODEL) -> list[str]:
    return [sys.executable, "-m", "llm", "-m", model, *arguments]


def _run(*arguments: str, model: str = MODEL, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        _command(*arguments, model=model), env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done
    return done


def whole() -> None:
    """The answer without streaming, which our tool calculated, and its usage."""
    done = _run(CALCULATION, "--no-stream", "--usage")
    assert "391" in done.stdout
    assert "Token usage" in done.stderr


def stream() -> None:
    """The same as a stream."""
    done = _run(CALCULATION, "--usage")
    assert "391" in done.stdout
    assert "Token usage" in done.stderr


def agent() -> None:
    """`llm` executes its own tool and sends the result, while ours runs on the server."""
    expect_both_results(_run(BOTH_TOOLS, "--functions", TOOL).stdout)


def error_before() -> None:
    """An error is an exit status with the server's words."""
    for options in ((), ("--no-stream",)):
        assert "unknown/model" in _run("Hi", *options, model="unknown/model", status=1).stderr


def error_after() -> None:
    """An error after the first token, too."""
    done = _run("Hi", model="openai/sim-midstream-error", status=1)
    assert done.stdout.strip()
    assert "overloaded" in done.stderr


def abort() -> None:
    """Ctrl-C cancels the run."""
    before = newest_run()
    with subprocess.Popen(
        _command("Hi", model="openai/sim-stall"),
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while (run_id := newest_run()) == before:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
    expect_cancelled(run_id)


report(whole, stream, agent, error_before, error_after, abort)
