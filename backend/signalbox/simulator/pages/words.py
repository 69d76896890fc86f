"""The words of a simulated page, by its topic."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """A line below the name, the label of the button, and three features with a title and a text."""

    line: str
    button: str
    features: tuple[tuple[str, str], ...]
    quote: str


_TOPICS: tuple[tuple[str, Words], ...] = (
    (
        r"baker|bread|cake|pastr|caf[eé]|coffee|restaurant|pizza|kitchen|food|tea",
        Words(
            "Made by hand every morning, a few steps from your door.",
            "See today's menu",
            (
                ("Fresh at seven", "The oven is on at four, so the first trays are ready when you leave for work."),
                ("Good ingredients", "Flour, butter and fruit come from farms that we visit ourselves."),
                ("A table for you", "Stay for a coffee, or order ahead and skip the line."),
            ),
            "The best start of a Saturday that I know.",
        ),
    ),
    (
        r"travel|trip|hotel|hostel|tour|flight|island|camp|hik",
        Words(
            "Small groups, slow days and places that you will talk about for years.",
            "Plan a trip",
            (
                ("Routes with time", "Three places in ten days, not ten places in three."),
                ("People who live there", "Guides show you their own streets, markets and views."),
                ("One fair price", "Trains, rooms and breakfast are included, and nothing is added later."),
            ),
            "We came back with fewer photos and better stories.",
        ),
    ),
    (
        r"fitness|gym|yoga|run|sport|health|clinic|doctor|dentist|meditation",
        Words(
            "Feel better in three hours a week, at a pace that fits your life.",
            "Book a first hour",
            (
                ("Plans that bend", "Missed a day? Your plan moves with you instead of starting over."),
                ("Real people", "A coach answers within the hour, not a form letter."),
                ("Progress you see", "One clear chart a month, and no numbers that make you nervous."),
            ),
            "The first routine that I have kept for a year.",
        ),
    ),
    (
        r"photo|portfolio|design|art|studio|music|band|film|writer|architect",
        Words(
            "Selected work from the last three years, and a few experiments.",
            "View the work",
            (
                ("Identity", "Marks, type and colour that hold together from a stamp to a poster."),
                ("Pictures", "Portraits and places in natural light, on film where there is time."),
                ("Working together", "Short rounds, clear prices, and files that you can keep using."),
            ),
            "Calm to work with, and the result still looks new.",
        ),
    ),
)
_ANY = Words(
    "Everything in one place, simple to start with and a pleasure to use every day.",
    "Get started",
    (
        ("Quick to learn", "The first useful result takes five minutes, without a manual."),
        ("Built with care", "Every detail has a reason, from the first click to the last."),
        ("Yours to keep", "Export what you make at any time, in formats that last."),
    ),
    "We stopped looking for alternatives on the first day.",
)


def words_for(topic: str) -> Words:
    """Return the words for a topic."""
    return next((words for pattern, words in _TOPICS if re.search(rf"\b(?:{pattern})", topic, re.IGNORECASE)), _ANY)
