"""The table of scenarios is complete: each number has a test, and each test is played on both loops."""

import re
from pathlib import Path

from tests.scenarios.tool_loop.conftest import loop

# The measured scenarios; "stop" is the table's row of extra checks.
NUMBERS = (
    *("01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"),
    *("20", "21", "22", "23", "28", "33", "36", "48", "stop"),
)
_NAME = re.compile(r"^def test_((?:\d\d_)+|stop_)\w+\((.*)", re.MULTILINE)


def numbered() -> list[tuple[list[str], str]]:
    """Return the numbers in each scenario's name, and its first line's parameters."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py"))]
    return [(match[1].strip("_").split("_"), match[2]) for text in texts for match in _NAME.finditer(text)]


def test_every_scenario_of_the_table_has_its_test() -> None:
    """No row is left out, and no test claims a row that is not there."""
    assert {number for numbers, _ in numbered() for number in numbers} == set(NUMBERS)


def test_every_scenario_is_played_on_both_loops() -> None:
    """Each of them sets its stage by the fixture that is there once for each loop."""
    assert set(loop._fixture_function_marker.params or ()) == {"v2", "legacy"}
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for numbers, first_line in numbered():
        head = first_line or text[text.index(f"def test_{'_'.join(numbers)}") :][:400]
        assert "scenario: Scenarios" in head, numbers
