"""docs/eval.md: its example runs as shown, and every field, option and result is described."""

import argparse
import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from signalbox.cli import _parser
from signalbox.evals.expectations import Expectations, ExpectedFile, ExpectedTools
from signalbox.evals.results import Result
from signalbox.evals.set_file import Case, EvalSet

from tests.project.docs.pages import page, rows
from tests.support.processes import command

PAGE = page("eval.md")


def _cells() -> str:
    """Return the first cell of each row."""
    return " ".join(row[0] for row in rows(PAGE.text))


def test_the_first_example_runs_as_shown(tmp_path: Path) -> None:
    """The set of the tutorial prints what the page says, except for times."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "sums.toml").write_text(next(iter(PAGE.blocks("toml"))))
    done = command("eval", "evals/sums.toml", "--simulate", "--output", "results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    def lines(text: str) -> list[str]:
        return sorted(re.sub(r"\[\d/4\]|\d+\.\d s", "", line) for line in text.splitlines())

    shown = next(block for block in PAGE.blocks("text") if "4 runs at the simulator" in block)
    assert lines(done.stderr.decode() + done.stdout.decode()) == lines(shown)


@pytest.mark.parametrize("model", [EvalSet, Case, Expectations, ExpectedTools])
def test_every_field_of_a_set_is_described(model: type[BaseModel]) -> None:
    """Each has a row."""
    assert [name for name in model.model_fields if f"`{name}`" not in _cells()] == []


def test_every_field_of_a_file_is_described() -> None:
    """They are in the sentence about files."""
    paragraph = next(part for part in PAGE.text.split("\n\n") if "`expect.files`" in part)
    assert [name for name in ExpectedFile.model_fields if f"`{name}" not in paragraph] == []


def test_every_option_is_described() -> None:
    """Each option of the command has a row, and each row is an option."""
    subcommands = next(one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    known = {text for one in subcommands.choices["eval"]._actions for text in one.option_strings} - {"-h", "--help"}
    assert set(re.findall(r"`(--[a-z-]+)", _cells())) == known


def test_the_help_answers_first_questions() -> None:
    """It says what the command does, which option it needs, how to continue, and what the exit status means."""
    subcommands = next(one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    text = " ".join(subcommands.choices["eval"].format_help().split())
    for words in ("check the answers", "(required)", "the same command continues", "default: 127.0.0.1", "130 after"):
        assert words in text


def test_the_fields_of_results_exist() -> None:
    """The table names no field that a line does not have."""
    section = PAGE.text.split("### Results")[1]
    named = {name for row in rows(section) for name in re.findall(r"`(\w+)`", row[0])}
    assert len(named) > 15
    assert named - set(Result.__struct_fields__) == set()
