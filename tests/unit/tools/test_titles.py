"""Default titles and summaries of tools, from name and description."""

import pytest
from signalbox.core.tools import ToolSpec, name_in_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("get_weather", "Get weather"),
        ("getWeather", "Get weather"),
        ("weather", "Weather"),
        ("readURL", "Read URL"),
        ("fetch_PDF__page_2", "Fetch PDF page 2"),
        ("_", ""),
    ],
)
def test_a_title_is_the_name_in_words(name: str, words: str):
    """Underscores and camel case become spaces; abbreviations keep their capitals."""
    assert name_in_words(name) == words


@pytest.mark.parametrize(
    ("description", "summary"),
    [
        ("Look up the weather. Returns Celsius, e.g. 21.5 degrees.", "Look up the weather."),
        ("Look up the weather", "Look up the weather"),
        ("Look up the weather\n\nArgs: city", "Look up the weather"),
        ("Convert units, i.e. from 1.5 km to miles.", "Convert units, i.e. from 1.5 km to miles."),
    ],
)
def test_a_summary_is_the_first_sentence_of_the_description(description: str, summary: str):
    """A full stop inside a number or an abbreviation ends no sentence."""
    spec = ToolSpec("get_weather", description, {"type": "object", "properties": {}})
    assert (spec.display_title, spec.display_summary) == ("Get weather", summary)


def test_a_given_title_and_summary_are_used():
    """They take precedence over the defaults."""
    spec = ToolSpec("w", "For models. Long.", {}, title="Weather", summary="Tells the weather.")
    assert (spec.display_title, spec.display_summary) == ("Weather", "Tells the weather.")
