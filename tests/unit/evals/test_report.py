"""The HTML report: complete, readable without scripts, and safe to open whatever a model wrote."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from signalbox.evals.loading import LoadedSet
from signalbox.evals.report import Report
from signalbox.evals.results import Check, FoundFile, MadeCall, Result

from tests.unit.evals.conftest import Load
from tests.unit.evals.test_results import result

HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>\"'><style>*{display:none}</style>"
    "<base href=//x.example><meta http-equiv=refresh content=0><iframe srcdoc=x></iframe>"
    "&lt;\u202e\0<a href=javascript:x>"
)
SET = """\
name = 'Set <b>"&'
models = ["openai/sim", "a/b"]
loops = ["v2", "legacy"]
[[cases]]
id = "one"
description = "Says <i>hello</i>."
prompt = "Hello <u>there</u>!"
[[cases]]
id = "two"
prompt = "2"
models = ["a/b"]
loops = ["v2"]
[[cases]]
id = "three"
prompt = "3"
"""


class Page(HTMLParser):
    """The tags, links, ids and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.names.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def results_of(loaded: LoadedSet, **fields: Any) -> list[Result]:
    """Make a result for each trial of the first two cases."""
    return [
        result(one.digest, case=one.question.case.id, model=one.model, loop=one.loop, **fields)
        for one in loaded.trials
        if one.question.case.id != "three"
    ]


def written(loaded: LoadedSet, results: list[Result], folder: Path) -> str:
    """Write the report and return its text."""
    return Report(loaded, results, "the simulator").write(folder).read_text("utf-8")


@pytest.fixture
def hostile(load: Load, tmp_path: Path) -> str:
    """Write a report in which every text of a model, a tool or a server is hostile."""
    fields: dict[str, Any] = {"text": HOSTILE, "error": HOSTILE, "code": HOSTILE, "status": HOSTILE, "run_id": HOSTILE}
    fields |= {"checks": [Check(HOSTILE, False, HOSTILE)], "calls": [MadeCall(HOSTILE, HOSTILE, HOSTILE)]}
    fields |= {"files": [FoundFile(HOSTILE)], "warnings": [HOSTILE], "served_model": HOSTILE, "served_loop": HOSTILE}
    loaded = load(SET)
    return written(loaded, results_of(loaded, outcome="error", **fields), tmp_path)


def test_text_of_models_is_never_markup(hostile: str) -> None:
    """Only the tags and attributes of the report are on the page, and no link leaves it."""
    page = Page(hostile)
    known = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "nav", "details", "summary"}
    known |= {"h1", "h2", "h3", "p", "ul", "li", "b", "a", "br", "div", "span", "pre", "code"}
    assert page.tags <= known | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.names <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "id",
        "class",
        "href",
        "scope",
        "open",
        "dir",
    }
    assert all(link.startswith("#") for link in page.links)
    assert HOSTILE.replace("\0", "") in page.text.replace("\0", "").replace("\ufffd", "")


def test_the_page_forbids_scripts_and_requests(hostile: str) -> None:
    """Even if something were not escaped, it could neither run nor load anything."""
    policy = re.search(r'content-security-policy" content="([^"]*)"', hostile)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert hostile.index("content-security-policy") < hostile.index("Set &lt;b&gt;", 200)
    assert "<script" not in hostile
    assert "url(" not in hostile


def test_links_lead_to_results_and_cases(load: Load, tmp_path: Path) -> None:
    """Every link has a target, and every case can be reached from the table and from its neighbours."""
    loaded = load(SET)
    page = Page(written(loaded, results_of(loaded), tmp_path))
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links} <= set(page.ids)
    for case in ("one", "two", "three"):
        assert page.links.count(f"#case-{case}") >= 2
    assert page.links.count("#top") == 3


def test_totals_and_cells(load: Load, tmp_path: Path) -> None:
    """The table counts by case, model and loop; what was not executed is shown as such."""
    loaded = load(SET)
    results = results_of(loaded, cost=0.25, duration_ms=1500)
    results[0] = result(
        results[0].digest, case="one", model="openai/sim", outcome="fail", checks=[Check("x", False, "y")]
    )
    text = written(loaded, results, tmp_path)
    assert '<b class="pass">4</b> passed' in text
    assert '<b class="fail">1</b> failed' in text
    assert '<b class="missing">4</b> not executed' in text
    assert "$1.0000" in text
    assert text.count("✓ 1/1") == 4
    assert text.count("✗ 0/1") == 1
    assert text.count("– 0/1") == 4
    assert "Hello &lt;u&gt;there&lt;/u&gt;!" in text
    assert "Says &lt;i&gt;hello&lt;/i&gt;." in text


@pytest.mark.parametrize(("number", "words"), [(1, "1</b> error<"), (2, "2</b> errors<")])
def test_errors_are_counted(number: int, words: str, load: Load, tmp_path: Path) -> None:
    """Apart from failures."""
    loaded = load(SET)
    assert words in written(loaded, results_of(loaded, outcome="error")[:number], tmp_path)


def test_retried_attempts_are_mentioned_and_their_cost_counts(load: Load, tmp_path: Path) -> None:
    """The last attempt is the result."""
    loaded = load(SET)
    digest = loaded.trials[0].digest
    busy = result(digest, outcome="error", error="Too many runs.", will_retry=True, cost=0.5)
    text = written(loaded, [busy, result(digest, attempt=2, cost=0.25)], tmp_path)
    assert "Attempt 1 was retried: Too many runs." in text
    assert "<b>$0.7500</b> in 2 attempts" in text


def test_results_of_other_cases_are_left_out(load: Load, tmp_path: Path) -> None:
    """A folder may have results of a case that was changed or removed since."""
    text = written(load(SET), [result("gone", text="Old answer.")], tmp_path)
    assert "Old answer." not in text


def test_no_secret_is_shown(load: Load, tmp_path: Path) -> None:
    """Not even one that is in the set."""
    Report(load(SET.replace("Hello", "<SECRET>")), [], "here", ["<SECRET>", ""]).write(tmp_path)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "SECRET" not in text
    assert "[secret] &lt;u&gt;there" in text


def test_long_texts_are_cut(load: Load, tmp_path: Path) -> None:
    """A page with many answers stays readable; results.ndjson has all of the text."""
    loaded = load(SET)
    text = written(loaded, [result(loaded.trials[0].digest, text="x" * 30_000)], tmp_path)
    assert "… and 10,000 more characters" in text
    assert len(text) < 60_000


def test_the_report_is_replaced_as_a_whole(load: Load, tmp_path: Path) -> None:
    """No second file is left."""
    for _ in range(2):
        written(load(SET), [], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "set.toml"]
