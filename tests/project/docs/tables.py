"""The code tables of docs/sse-contract.md, from core/codes.py; `python -m tests.project.docs.tables` writes them."""

import re
import sys

from signalbox.core.codes import CODES, Code

from tests.project.docs.pages import DOCS

PATH = DOCS / "sse-contract.md"
# Each table begins with this code and ends before the next table's first code, in the order of core/codes.py.
FIRST = {
    "requests": Code.INVALID_JSON,
    "endings": Code.UPSTREAM_AUTH,
    "results": Code.INVALID_ARGUMENTS,
    "warnings": Code.FINAL_EMPTY,
}


def code_tables() -> dict[str, str]:
    """Return each table as Markdown, by name."""
    codes = list(Code)
    starts = [*(codes.index(first) for first in FIRST.values()), len(codes)]
    groups = zip(FIRST, starts, starts[1:], strict=False)
    return {name: _table(codes[start:end], with_http=name == "requests") for name, start, end in groups}


def with_tables(text: str) -> str:
    """Return a page's text with its tables regenerated."""
    for name, table in code_tables().items():
        text = re.sub(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", rf"\g<1>\n{table}\n\g<2>", text, flags=re.DOTALL)
    return text


def _table(codes: list[Code], *, with_http: bool) -> str:
    head = "| code | HTTP | sentence | what to do |" if with_http else "| code | sentence | what to do | ask again |"
    lines = [head, "|---|---|---|---|"]
    for code in codes:
        fact = CODES[code]
        again = "may help" if fact.retryable else "no"
        cells = (fact.http, fact.sentence, fact.todo) if with_http else (fact.sentence, fact.todo, again)
        lines.append(f"| `{code}` | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    written = with_tables(PATH.read_text(encoding="utf-8"))
    PATH.write_text(written, encoding="utf-8")
    sys.stdout.write(f"wrote the code tables of {PATH.name}\n")
