"""A run uses the upstream that its model's route names: with its key, its headers and its id of the model."""

import json
from pathlib import Path

import pytest
from signalbox.app.config import SettingsError
from signalbox.app.main import create_app

from tests.scenarios.upstreams.conftest import Serve
from tests.scenarios.upstreams.two_upstreams import FILE, FIRST_KEY, MODEL, SECOND_KEY, models_of
from tests.support.running_app import error_of, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, call_chunk, calls_then, says

LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
LISTED = {"data": [{"id": "first-model"}, {"id": "vendor/second-model"}, {"id": "vendor/other"}]}


async def lists_models(exchange: Exchange) -> None:
    """Answer with a catalogue."""
    await exchange.whole(200, json.dumps(LISTED).encode())


def test_the_first_upstream_of_the_route_answers(serve: Serve) -> None:
    """It gets its own model id, its key and its headers; the client sees the id that it asked for."""
    two = serve([says("Hi.")], [says("Never.")])
    heard = two.ask()
    (asked,) = two.first.asked
    assert asked.body["model"] == "first-model"
    assert (asked.headers["authorization"], asked.headers["x-team"]) == (f"Bearer {FIRST_KEY}", "chat")
    assert (heard.done["status"], heard.done["requested_model"], heard.done["upstream"]) == ("complete", MODEL, "first")
    assert two.attempts(heard) == [("first", None)]
    assert two.asked() == (1, 0)


@LOOPS
def test_name_at_model_forces_an_upstream(serve: Serve, loop: str) -> None:
    """The id of the model, the session and the key are those of that upstream; the client's id stays."""
    two = serve([says("Never.")], [says("Hi.")], settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(model=f"second@{MODEL}", tools=[])
    (asked,) = two.second.asked
    assert asked.body["model"] == "vendor/second-model"
    assert asked.headers["authorization"] == f"Bearer {SECOND_KEY}"
    assert (heard.done["requested_model"], heard.done["upstream"]) == (f"second@{MODEL}", "second")
    assert two.attempts(heard) == [("second", None)]
    assert two.asked() == (0, 1)


def test_another_name_before_the_at_is_part_of_the_model(serve: Serve) -> None:
    """Only names of the file force an upstream. Without a route, the first upstream that serves a model answers."""
    two = serve([says("Hi.")], [says("Never.")])
    two.ask(model="third@acme/model")
    assert models_of(two.first.asked) == ["third@acme/model"]


def test_a_proxy_carries_the_requests_of_its_upstream(serve: Serve) -> None:
    """The proxy gets them with the whole URL; the other upstream is called directly."""
    with ScriptedUpstream(says("Through the proxy.")) as proxy:
        file = FILE.replace("{first}", "http://upstream.invalid/v1").replace(
            "timeout = 5", f'proxy = "http://127.0.0.1:{proxy.port}"'
        )
        two = serve([says("Never.")], [says("Hi.")], file=file)
        assert two.ask().text == "Through the proxy."
        assert proxy.asked[0].path == "http://upstream.invalid/v1/chat/completions"
        assert two.ask(model=f"second@{MODEL}").text == "Hi."
        assert len(proxy.asked) == 1


def test_every_step_of_a_run_goes_to_the_same_upstream(serve: Serve) -> None:
    """Also the request after a tool's result."""
    call = calls_then(call_chunk("calculate", '{"expression":"1+1"}'))
    two = serve([call, says("2.")], [says("Never.")])
    heard = two.ask(tools=["calculate"])
    assert heard.done["status"] == "complete"
    assert two.attempts(heard) == [("first", None), ("first", None)]


def test_a_parameter_that_only_another_dialect_has_is_not_sent(serve: Serve) -> None:
    """`top_a` is OpenRouter's: the first upstream does not get it, and the client is warned; the second gets it."""
    two = serve([says("Hi.")], [says("Hi.")])
    warned = two.ask(top_a=0.5)
    assert [event["code"] for event in warned.events if event["type"] == "warning"] == ["PARAM_DROPPED"]
    two.ask(model=f"second@{MODEL}", top_a=0.5)
    assert ("top_a" in two.first.asked[0].body, "top_a" in two.second.asked[0].body) == (False, True)


def test_the_catalogue_has_the_models_of_all_upstreams(serve: Serve) -> None:
    """Under the ids that clients use; a model that no upstream on its route lists is rejected."""
    two = serve([says("Hi.")], [says("Hi.")], models=lists_models)
    served = {model["id"]: model["upstreams"] for model in two.app.client.get("/api/models").json()["models"]}
    assert served == {
        "acme/model": ["first", "second"],
        "first-model": ["first"],
        "vendor/second-model": ["first"],
        "vendor/other": ["first"],
    }
    assert two.ask().done["upstream"] == "first"
    response = two.app.post(model="acme/other", prompt="Hello!")
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"]) == (422, "UNKNOWN_MODEL", "model")


def test_a_model_that_no_upstream_serves_is_rejected(serve: Serve) -> None:
    """The patterns of the upstreams decide, also for a forced upstream."""
    only = FILE.replace("rename", 'models = ["acme/*"]\nrename')
    two = serve([says("Hi.")], [says("Hi.")], file=only)
    sentences = {
        "other/model": "No upstream of upstreams.toml serves the model 'other/model'.",
        "first@other/model": "The upstream 'first' does not serve the model 'other/model'.",
        "third@acme": "No upstream of upstreams.toml serves the model 'third@acme'.",
    }
    for model, sentence in sentences.items():
        error = error_of(two.app.post(model=model, prompt="Hello!"))
        assert (error["code"], error["field"]) == ("UNKNOWN_MODEL", "model")
        assert error["message"].startswith(sentence)
    assert two.asked() == (0, 0)


def test_the_file_replaces_the_key_and_the_simulator(serve: Serve) -> None:
    """With a key in the settings, too, only the upstreams of the file are asked, and nothing is simulated."""
    two = serve([says("Hi.")], [says("Never.")], settings={"openrouter_api_key": "unused-key"})
    done = two.ask().done
    assert "simulated" not in done
    assert two.first.asked[0].headers["authorization"] == f"Bearer {FIRST_KEY}"


def test_a_missing_key_stops_the_start_with_its_line(tmp_path: Path, monkeypatch) -> None:
    """The sentence names the file, the line and the variable."""
    monkeypatch.delenv("FIRST_KEY", raising=False)
    path = tmp_path / "upstreams.toml"
    path.write_text(FILE.format(first="http://127.0.0.1:9/v1", second="http://127.0.0.1:9/api/v1"), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"upstreams\.toml, line 5: the environment variable FIRST_KEY is not set"):
        create_app(settings_for(tmp_path / "data", signalbox_upstreams=path))


def test_an_unreachable_upstream_does_not_empty_the_list(serve: Serve) -> None:
    """The models of the others are listed and answer."""
    text = FILE.replace("{first}", "http://127.0.0.1:9/v1").partition("[[route]]")[0]
    two = serve([says("Never.")], [says("Hi.")], models=lists_models, file=text)
    served = {model["id"]: model["upstreams"] for model in two.app.client.get("/api/models").json()["models"]}
    assert served == {
        model: ["second"] for model in ("acme/model", "first-model", "vendor/second-model", "vendor/other")
    }
    assert two.ask().done["upstream"] == "second"
