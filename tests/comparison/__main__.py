"""`just compare-runners`: run every case with every library, store the outcomes, and write them into the docs."""

import argparse
import json
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from tests.comparison import report
from tests.comparison.cases import CASES
from tests.comparison.libraries import LIBRARIES, Library
from tests.comparison.observation import observe
from tests.comparison.program import Program

# Two programs at a time: the cases wait more than they compute.
_AT_ONCE = 2


def main() -> int:
    """Run the cases; with `--only`, print the outcomes instead of storing them."""
    arguments = _arguments()
    keys = arguments.only or [case.key for case in CASES]
    for library in LIBRARIES:
        library.install()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        columns = dict(zip(LIBRARIES, pool.map(lambda library: _outcomes(library, keys), LIBRARIES), strict=True))
    cases = {key: {library.name: column[key] for library, column in columns.items()} for key in keys}
    for case in CASES:
        for name, one in cases.get(case.key, {}).items():
            print(f"{case.key:14} {name:14} {one['words']}")
    if arguments.only:
        return 0
    stored = {
        "at": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "versions": {library.name: library.version for library in LIBRARIES},
        "cases": cases,
    }
    report.RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    page = report.PAGE.read_text(encoding="utf-8")
    report.PAGE.write_text(report.with_tables(page, report.tables(stored)), encoding="utf-8")
    return 0


def _outcomes(library: Library, keys: list[str]) -> dict[str, dict[str, Any]]:
    """Run these cases with one library."""
    outcomes: dict[str, dict[str, Any]] = {}
    with Program(library) as program:
        for case in CASES:
            if case.key in keys:
                outcomes[case.key] = report.outcome(case, observe(program, case.action, case.story))
    return outcomes


def _arguments() -> argparse.Namespace:
    names = [case.key for case in CASES]
    parser = argparse.ArgumentParser(prog="just compare-runners", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, metavar="CASE", help=f"some of {', '.join(names)}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
