"""Output modalities: the catalogue's facts, and what a request sends because of them."""

from typing import Any

import pytest
from signalbox.wire.openrouter.catalog import facts_of

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import says

IMAGE_MODEL = "google/gemini-2.5-flash-image"


@pytest.mark.parametrize(
    ("entry", "modalities"),
    [
        ({"architecture": {"output_modalities": ["image", "text"]}}, ("image", "text")),
        ({"architecture": {"output_modalities": ["image"]}}, ("image",)),
        ({"architecture": {"output_modalities": ["text"]}}, ()),
        ({"architecture": {"output_modalities": ["text", "audio"]}}, ()),
        ({"architecture": {"output_modalities": ["text", "image"]}, "pricing": {"prompt": "-1"}}, ()),
        ({"architecture": {"output_modalities": None}}, ()),
        ({"architecture": 5}, ()),
        ({}, ()),
    ],
)
def test_images_are_requested_from_image_models(entry: dict[str, Any], modalities: tuple[str, ...]) -> None:
    """Text is not requested from a model that only draws (a 404), and images not from a router."""
    facts = facts_of({"id": "a/b", **entry})
    assert facts is not None
    assert facts.abilities.modalities == modalities


def test_no_modalities_are_sent_for_an_unlisted_model(start_app: StartApp) -> None:
    """Without catalogue facts no modalities are sent."""
    app, upstream = start_app(says("Hello."))
    app.ask(tools=[])
    assert "modalities" not in upstream.asked[0].body


def test_an_image_model_draws_for_a_client_that_sets_nothing(app: RunningApp) -> None:
    """A question without modalities gets one image."""
    heard = app.ask("Draw a sunrise.", model=IMAGE_MODEL)
    assert heard.done["status"] == "complete"
    assert sum(len(event.get("images", [])) for event in heard.of("content")) == 1


def test_an_image_model_asked_for_text_draws_nothing(app: RunningApp) -> None:
    """The client's modalities take precedence."""
    heard = app.ask("Draw a sunrise.", model=IMAGE_MODEL, modalities=["text"])
    assert heard.done["status"] == "complete"
    assert not any("images" in event for event in heard.of("content"))


def test_images_of_a_text_model_are_rejected_by_the_provider(app: RunningApp) -> None:
    """The request is sent unchanged, and the run ends with OpenRouter's error."""
    heard = app.ask("Draw a sunrise.", model="openai/sim", modalities=["image", "text"])
    assert heard.done["status"] == "error"
    assert "output modalities: image, text" in heard.done["error"]


def test_every_step_has_the_modalities(start_app: StartApp) -> None:
    """The client's modalities are in the request of every step."""
    app, upstream = start_app(says("Hello."), says("Again."))
    for _ in range(2):
        app.ask(modalities=["text", "image"], tools=[])
    assert [asked.body["modalities"] for asked in upstream.asked] == [["text", "image"]] * 2
