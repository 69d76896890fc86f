"""Keys, prompts and signatures of native APIs appear only where they belong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.native_runs import KEY, NativeAsker, app_over
from tests.scenarios.upstreams.test_fallback import everything_stored

PROMPT = "canary-prompt-5521"
# The simulated model's reasoning repeats the question, so the canary of the first one is only in the instructions.
QUESTIONS = {"sim": "What is 17 * 23?", "sim-error-400": PROMPT, "sim-error-401": PROMPT}
THINK = {"effort": "medium"}
APIS = (
    ("openai-chat", "/openai/v1", "openai", "/chat/completions"),
    ("openai-responses", "/openai/v1", "openai", "/responses"),
    ("anthropic-messages", "/anthropic", "anthropic", "/v1/messages"),
    ("gemini", "/gemini", "google", "/v1beta/models/"),
)
_OPAQUE = ("signature", "data", "encrypted_content", "thoughtSignature")


def opaque_in(value: object) -> Iterator[str]:
    """Yield all signatures and encrypted reasoning in a request."""
    if isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            if name in _OPAQUE and isinstance(inner, str):
                yield inner
            yield from opaque_in(inner)
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from opaque_in(inner)


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("api", APIS, ids=[api[0] for api in APIS])
def test_signatures_stay_between_server_and_upstream(
    simulator: BackgroundSimulator, tmp_path: Path, capfd: pytest.CaptureFixture[str], api: tuple[str, str, str, str]
) -> None:
    """Streams, traces, lists, errors, logs and files have no key and no signature; only the database has the prompt."""
    dialect, base, family, path = api
    with app_over(simulator, tmp_path, dialect=dialect, base=base, family=family) as app:
        ask = NativeAsker(app, simulator, path, family)
        runs = [
            ask(model, question, loop=loop, system=PROMPT, reasoning=THINK)
            for model, question in QUESTIONS.items()
            for loop in ("v2", "legacy")
        ]
        assert [run.heard.done["status"] for run in runs] == ["complete"] * 2 + ["error"] * 4
        seen = b""
        for run in runs:
            run_id = run.heard.events[0]["run_id"]
            app.over(run_id)
            seen += run.heard.raw + app.client.get(f"/api/runs/{run_id}").content
        for address in ("/api/runs", "/api/models", "/api/tools"):
            seen += app.client.get(address).content
    sent = {text for run in runs for request in run.requests for text in opaque_in(request)}
    assert bool(sent) == (dialect != "openai-chat")
    seen += "".join(capfd.readouterr()).encode()
    stored = everything_stored(tmp_path / "data")
    assert PROMPT.encode() not in seen
    assert PROMPT.encode() in stored
    for secret in (KEY, *sent):
        assert secret.encode() not in seen + stored
