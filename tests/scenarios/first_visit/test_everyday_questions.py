"""The example questions of the empty chat page and variants of them, on both loops."""

import re
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from tests.support.running_app import RunningApp, settings_for

PAGE = ROOT / "frontend/src/components/composer/EmptyPage.tsx"


@pytest.fixture(scope="module", params=["v2", "legacy"])
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run the app without a key."""
    openrouter = "https://openrouter.ai/api/v1"
    settings = settings_for(
        tmp_path_factory.mktemp("data"),
        openrouter_api_key=None,
        openrouter_base_url=openrouter,
        tool_loop_v2=request.param == "v2",
    )
    with RunningApp(settings) as app:
        yield app


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Compare Lisbon and Porto for a weekend trip, in a table.",
            [r"\|  \| Lisbon \| Porto \|", r"\| Day trip \| Sintra", r"\| Source \| .* \[\d\] \| .* \[\d\] \|"],
        ),
        ("Porto vs Lisbon, side by side", [r"\|  \| Porto \| Lisbon \|", r"\| Food to try \|"]),
        (
            "What is the monthly payment on a loan of $250,000 at 4% over 25 years?",
            [r"\$\$\nM = .*\n\$\$", r"The calculator gives \*\*\$1,319\.59\*\* a month\."],
        ),
        ("Write a Python script that renames my photos by date.", [r"```python\n", r"1\. Copy", "simulated model"]),
        (
            "What time is it in Tokyo, and what are good tips against jet lag?",
            [r"In Tokyo it is \*\*\d\d:\d\d", r"1\. .* \[1\]\n2\. .* \[1\]"],
        ),
        ("Give me some tips for jet lag", [r"1\. .* \[1\]\n2\. .* \[1\]"]),
    ],
)
def test_an_everyday_question_is_answered(simulated: RunningApp, question: str, parts: list[str]) -> None:
    """The answer has a table, a formula, code or a list, and sources that can be opened."""
    heard = simulated.ask(question)
    assert heard.done["status"] == "complete"
    assert heard.done["simulated"] is True
    for part in parts:
        assert re.search(part, heard.text), heard.text
    cited = {int(n) for n in re.findall(r"\[(\d)\]", heard.text.split("```")[0])}
    found = [result["result"]["result"].get("results", []) for result in heard.of("tool_result")]
    sources = {one["n"]: one["url"] for results in found for one in results}
    assert cited <= sources.keys()
    for n in cited:
        assert simulated.client.get(sources[n].partition("#")[0]).status_code == 200


def test_the_examples_of_the_page_are_among_them() -> None:
    """Every example of the page is tested here."""
    examples = re.findall(r'prompt: "([^"]+)"', PAGE.read_text(encoding="utf-8"))
    tried = test_an_everyday_question_is_answered.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert len(examples) == 4
    assert set(examples) <= {question for question, _ in tried}
