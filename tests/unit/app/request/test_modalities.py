"""What the catalogue says of a model's output, and what is asked for because of it."""

from typing import Any

import pytest
from signalbox.wire.openrouter.catalog import facts_of

from tests.support.fixtures import Behind
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
def test_images_are_asked_for_where_the_model_draws(entry: dict[str, Any], modalities: tuple[str, ...]) -> None:
    """Never text from a model that only draws (a 404), nor images from a router, which would choose by them."""
    facts = facts_of({"id": "a/b", **entry})
    assert facts is not None
    assert facts.abilities.modalities == modalities


def test_a_model_that_is_not_listed_is_asked_for_nothing(behind: Behind) -> None:
    """What the catalogue does not say is not guessed."""
    app, upstream = behind(says("Hello."))
    app.ask(tools=[])
    assert "modalities" not in upstream.asked[0].body


def test_an_image_model_draws_for_a_client_that_sets_nothing(app: RunningApp) -> None:
    """The bare question of the page: one answer with one image."""
    heard = app.ask("Draw a sunrise.", model=IMAGE_MODEL)
    assert heard.done["status"] == "complete"
    assert sum(len(event.get("images", [])) for event in heard.of("content")) == 1


def test_an_image_model_asked_for_text_draws_nothing(app: RunningApp) -> None:
    """The client's own modalities hold."""
    heard = app.ask("Draw a sunrise.", model=IMAGE_MODEL, modalities=["text"])
    assert heard.done["status"] == "complete"
    assert not any("images" in event for event in heard.of("content"))


def test_images_of_a_model_without_any_are_refused_in_the_hosts_words(app: RunningApp) -> None:
    """They go out as asked, and the run ends with what OpenRouter says."""
    heard = app.ask("Draw a sunrise.", model="openai/sim", modalities=["image", "text"])
    assert heard.done["status"] == "error"
    assert "output modalities: image, text" in heard.done["error"]


def test_every_step_has_the_modalities(behind: Behind) -> None:
    """Those that the client sets are in the request of the first step and in those that follow."""
    app, upstream = behind(says("Hello."), says("Again."))
    for _ in range(2):
        app.ask(modalities=["text", "image"], tools=[])
    assert [asked.body["modalities"] for asked in upstream.asked] == [["text", "image"]] * 2
