"""Every scenario number has a test that runs on both loops."""

import re
from pathlib import Path

from tests.scenarios.tool_loop.conftest import loop

# The measured scenarios; "stop" is the table's row of additional checks.
NUMBERS = (
    *("01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"),
    *("20", "21", "22", "23", "28", "33", "36", "48", "stop"),
)
_NAME = re.compile(r"^def test_((?:\d\d_)+|stop_)\w+\((.*)", re.MULTILINE)


def numbered() -> list[tuple[list[str], str]]:
    """Return the numbers in each test's name, and the parameters of its first line."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py"))]
    return [(match[1].strip("_").split("_"), match[2]) for text in texts for match in _NAME.finditer(text)]


def test_every_scenario_of_the_table_has_its_test() -> None:
    """Every row has a test, and no test has an unknown number."""
    assert {number for numbers, _ in numbered() for number in numbers} == set(NUMBERS)


def test_every_scenario_is_played_on_both_loops() -> None:
    """Every test uses the fixture that exists once per loop."""
    assert set(loop._fixture_function_marker.params or ()) == {"v2", "legacy"}
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for numbers, first_line in numbered():
        head = first_line or text[text.index(f"def test_{'_'.join(numbers)}") :][:400]
        assert "scenario: Scenarios" in head, numbers
