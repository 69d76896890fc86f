"""docs/operating.md lists what the server can say."""

import re
from pathlib import Path

from signalbox.app.protocols import PROTOCOLS
from signalbox.commands import doctor

from tests.project.docs.pages import codes_in, page, rows

OPERATING = page("operating.md")
FINDING = re.compile(r'\b(?:ok|warn|fail|refusal)\("([a-z -]+)"')


def test_the_table_of_the_doctor_lists_every_check() -> None:
    """Each name that a finding has in the code is in the first column."""
    files = sorted(Path(doctor.__file__).parent.glob("*.py"))
    names = {name for file in files for name in FINDING.findall(file.read_text(encoding="utf-8"))}
    assert {"browser", "images", "sign-in"} <= names
    table = rows(OPERATING.section("Checking an installation (signalbox doctor)"))
    assert names - {name for row in table for name in codes_in(row[0])} == set()


def test_the_list_of_protocols_is_complete() -> None:
    """It names each protocol that a run can have."""
    cells = next(row for row in rows(OPERATING.section("What an operator sees")) if row[0].startswith("`protocol`"))
    assert {one.name for one in PROTOCOLS} - codes_in(cells[1]) == set()
