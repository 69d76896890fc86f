"""Thought signatures must come back unchanged, on the same call, to the same model."""

from copy import deepcopy

import httpx
import pytest

from tests.unit.simulator.native.gemini.conversation import (
    Json,
    asked,
    calls,
    finish,
    model_turn,
    objects,
    post,
    results,
    text,
    user,
)

CORRUPTED = "Corrupted thought signature."


def error_after(gemini: httpx.Client, turn: Json, *, model: str = "sim-parallel", after: Json | None = None) -> str:
    """Send a turn back with results of its calls; return the message of the error, or ''."""
    answered = [part["functionCall"] for part in turn["parts"] if "functionCall" in part]
    contents = [user(), turn, results(*answered), *([after] if after else [])]
    response = post(gemini, model, asked(*contents))
    return response.json()["error"]["message"] if response.status_code == 400 else ""


@pytest.fixture
def turn(gemini: httpx.Client) -> Json:
    """Return a turn of the model with three calls, the first of them signed."""
    return model_turn(objects(post(gemini, "sim-parallel", asked())))


def test_an_unchanged_turn(gemini: httpx.Client, turn: Json) -> None:
    """The turn is accepted as it came, also with snake_case names and the other base64 alphabet."""
    assert error_after(gemini, turn) == ""
    other = deepcopy(turn)
    signature = other["parts"][0].pop("thoughtSignature")
    other["parts"][0] = {
        "function_call": other["parts"][0].pop("functionCall"),
        "thought_signature": signature.replace("+", "-").replace("/", "_").rstrip("="),
    }
    contents = [user(), other, results(*(part["functionCall"] for part in turn["parts"] if "functionCall" in part))]
    assert post(gemini, "sim-parallel", asked(*contents)).status_code == 200


def test_an_altered_signature(gemini: httpx.Client, turn: Json) -> None:
    """An altered signature is corrupted; one that is not base64 is an invalid value."""
    for altered in ("AAAA", turn["parts"][0]["thoughtSignature"][:-4] + "AAAA"):
        turn["parts"][0]["thoughtSignature"] = altered
        assert error_after(gemini, turn) == CORRUPTED
    turn["parts"][0]["thoughtSignature"] = "not base64!"
    assert "(TYPE_BYTES), Base64 decoding failed" in error_after(gemini, turn)


def test_a_signature_of_another_call_or_model(gemini: httpx.Client, turn: Json) -> None:
    """A signature belongs to one call of one model."""
    assert error_after(gemini, turn, model="gemini-3-flash-preview") == CORRUPTED
    moved = deepcopy(turn)
    moved["parts"][1]["thoughtSignature"] = moved["parts"][0]["thoughtSignature"]
    assert error_after(gemini, moved) == CORRUPTED
    turn["parts"][0]["functionCall"]["args"] = {"timezone": "UTC"}
    assert error_after(gemini, turn) == CORRUPTED


def test_a_missing_signature(gemini: httpx.Client, turn: Json) -> None:
    """Gemini 3 requires signatures since the last question; the documented placeholder is accepted."""
    signature = turn["parts"][0].pop("thoughtSignature")
    message = error_after(gemini, turn)
    assert "missing a thought_signature in functionCall parts" in message
    assert "`default_api:get_current_time` , position 2." in message
    assert error_after(gemini, turn, after=user("And in Lima?")) == ""
    assert error_after(gemini, turn, model="gemini-2.5-flash") == ""
    turn["parts"][0]["thoughtSignature"] = "skip_thought_signature_validator"
    assert error_after(gemini, turn) == ""
    turn["parts"][0]["thoughtSignature"] = signature
    assert error_after(gemini, turn) == ""


def test_every_step_is_checked(gemini: httpx.Client) -> None:
    """In a loop of several steps, each step's first call must be signed."""
    contents = [user()]
    for _ in range(3):
        received = objects(post(gemini, "sim-steps-3", asked(*contents)))
        [call] = calls(received)
        contents += [model_turn(received), results(call)]
    answered = objects(post(gemini, "sim-steps-3", asked(*contents)))
    assert finish(answered) == "STOP"
    assert "A step is one model call." in text(answered)
    del contents[3]["parts"][0]["thoughtSignature"]
    message = post(gemini, "sim-steps-3", asked(*contents)).json()["error"]["message"]
    assert "position 4" in message


def test_the_signature_of_a_text(gemini: httpx.Client) -> None:
    """A text's signature may move to a joined text, but must be this model's and unaltered."""
    said = model_turn(objects(post(gemini, "sim", asked(user("hello")))))
    signature = said["parts"][-1]["thoughtSignature"]
    joined = {"text": "".join(part["text"] for part in said["parts"]), "thoughtSignature": signature}
    for part, status in ((joined, 200), ({**joined, "thoughtSignature": signature[:-4] + "AAAA"}, 400)):
        contents = [user("hello"), {"role": "model", "parts": [part]}, user("thanks")]
        assert post(gemini, "sim", asked(*contents)).status_code == status
