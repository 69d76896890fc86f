"""The line of a field in a TOML file."""

import pytest
from signalbox.services.toml_lines import TomlLines

TEXT = """\
# name = "in a comment"
name = "a"

[defaults]
params = { temperature = 0 }

[[cases]]
id = "one"

[[ cases ]]
id = "two"
expect.steps = 2
[cases.expect.tools]
"only" = []
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 2),
        (("defaults",), 4),
        (("defaults", "params", "temperature"), 5),
        (("cases", 0), 7),
        (("cases", 0, "id"), 8),
        (("cases", 1, "id"), 11),
        (("cases", 1, "expect", "steps"), 12),
        (("cases", 1, "expect", "tools", "only"), 14),
        (("cases", 1, "expect", "tools", "only", 3), 14),
        (("cases", 1, "absent"), 10),
        (("cases", 7), 7),
        (("absent",), 1),
        ((), 1),
    ],
)
def test_the_line_of_a_field(path: tuple[str | int, ...], line: int) -> None:
    """A field that is absent has the line of its table."""
    assert TomlLines(TEXT).line_of(path) == line
