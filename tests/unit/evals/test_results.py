"""`results.ndjson`: appended line by line, read back after a crash, and without secrets."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox.evals.results import FILE, Check, MadeCall, Result, ResultsError, ResultsFile, latest, load_results


def result(digest: str = "d1", **fields: Any) -> Result:
    """Make a result."""
    given: dict[str, Any] = {"case": "one", "model": "a/b", "repeat": 1, "attempt": 1, "outcome": "pass", "at": "2026"}
    return Result(digest=digest, **(given | fields))


def test_each_result_is_a_line_that_is_on_disk_at_once(tmp_path: Path) -> None:
    """Another process can read it while the file is open."""
    with ResultsFile(tmp_path / "new" / "folder") as results:
        for number in (1, 2):
            results.add(result(f"d{number}", checks=[Check("status is complete", ok=True)], cost=0.5))
            lines = (tmp_path / "new" / "folder" / FILE).read_text().splitlines()
            assert [json.loads(line)["digest"] for line in lines] == ["d1", "d2"][:number]
    assert load_results(tmp_path / "new" / "folder") == load_results(tmp_path / "new" / "folder" / FILE)


def test_a_later_attempt_replaces_an_earlier_one() -> None:
    """By the digest of the trial."""
    found = latest([result(outcome="error"), result("d2"), result(attempt=2)])
    assert {digest: (one.outcome, one.attempt) for digest, one in found.items()} == {
        "d1": ("pass", 2),
        "d2": ("pass", 1),
    }


def test_a_line_that_a_crash_has_cut_is_removed(tmp_path: Path) -> None:
    """The next line does not continue it."""
    with ResultsFile(tmp_path) as results:
        results.add(result())
        results.add(result("d2"))
    file = tmp_path / FILE
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    assert [one.digest for one in load_results(tmp_path)] == ["d1"]
    with ResultsFile(tmp_path) as results:
        assert [one.digest for one in results.results] == ["d1"]
        results.add(result("d2"))
    assert file.read_bytes() == whole


def test_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    """Nothing is written to such a file."""
    with ResultsFile(tmp_path) as results:
        results.add(result())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes() + b'\n{"digest": 1}\n')
    with pytest.raises(ResultsError, match=r"results\.ndjson, line 3 is not a result: "):
        ResultsFile(tmp_path)


def test_a_folder_has_one_command_at_a_time(tmp_path: Path) -> None:
    """Two would execute and pay for the same trials."""
    with ResultsFile(tmp_path), pytest.raises(ResultsError, match="Another signalbox eval writes to"):
        ResultsFile(tmp_path)
    with ResultsFile(tmp_path):
        pass


def test_no_secret_is_written(tmp_path: Path) -> None:
    """A model or a tool may repeat the token in any field."""
    calls = [MadeCall("read_url", '{"url": "http://x/?t=SECRET"}', "SECRET is wrong")]
    with ResultsFile(tmp_path, ["SECRET", ""]) as results:
        shown = results.add(result(text="The token is SECRET.", error="SECRET", calls=calls))
    assert "SECRET" not in (tmp_path / FILE).read_text()
    assert shown.text == "The token is [secret]."
    assert shown.calls == [MadeCall("read_url", '{"url": "http://x/?t=[secret]"}', "[secret] is wrong")]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """The sentence names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"output folder .*file.* cannot be written"):
        ResultsFile(tmp_path / "file")
    with pytest.raises(ResultsError, match=r"none.* cannot be read"):
        load_results(tmp_path / "none")
