"""What the Python programs of this folder share: the server's address, a tool, and the report of their checks."""

import json
import os
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable
from typing import Any

URL = os.environ["SIGNALBOX_URL"]
BASE_URL = f"{URL}/v1"
MODEL = "anthropic/sim"
CALCULATION = "What is 17 * 23?"
# The first part needs the client's tool, the second one a tool of the server.
BOTH_TOOLS = "Use get_weather for Lisbon, then calculate 17 * 23."
WEATHER = "21 degrees and sunny"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GET_WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Return the weather of a city.", "parameters": PARAMETERS},
}
# Two ways to ask for the server's tools: among `tools`, and as headers for clients that accept only functions there.
CALCULATE = {"type": "signalbox:calculate"}
SERVER_TOOLS = {"x-signalbox-tools": "calculate"}
_SOON = 1.0


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    assert city == "Lisbon"
    return WEATHER


def run_of(run_id: str) -> dict[str, Any]:
    """Return a run as the server stored it."""
    return _get(f"/api/runs/{run_id}")


def newest_run() -> str:
    """Return the id of the run that started last."""
    return _get("/api/runs")["runs"][0]["run_id"]


def _get(path: str) -> Any:
    with urllib.request.urlopen(URL + path, timeout=10) as response:
        return json.load(response)


def expect_cancelled(run_id: str) -> None:
    """Check that a run is cancelled within a second."""
    deadline = time.monotonic() + _SOON
    while (status := run_of(run_id)["status"]) == "running":
        assert time.monotonic() < deadline, "the run goes on"
        time.sleep(0.01)
    assert status == "cancelled", status


def expect_both_results(text: str) -> None:
    """Check that an answer uses the results of both tools."""
    assert WEATHER in text, text
    assert "391" in text, text


def report(*checks: Callable[[], None]) -> None:
    """Run the checks, print the result of each as a line of JSON, and exit with 1 if one failed."""
    failed = False
    for check in checks:
        started = time.monotonic()
        error = ""
        try:
            check()
        except Exception:  # noqa: BLE001 - every failure is reported
            error = traceback.format_exc()
        failed = failed or bool(error)
        result = {"check": check.__name__, "seconds": round(time.monotonic() - started, 2), "error": error}
        print(json.dumps(result), flush=True)
    sys.exit(failed)
