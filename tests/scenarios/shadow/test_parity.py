"""`signalbox parity --shadow`: the stored comparisons of shadow mode, in the form of the parity report."""

from pathlib import Path

import pytest
from signalbox.app.shadow.worker import as_data
from signalbox.replay.differences import Difference
from signalbox.store.shadow_runs import ShadowOutcome, ShadowRun, finish_shadow, reserve_shadow

from tests.scenarios.replay.conftest import Command, run_command
from tests.support.running_app import RunningApp, settings_for

__all__ = ["run_command"]
WHY = "V2 starts tools while the model still streams."
FOUND: dict[ShadowOutcome, list[Difference]] = {
    "same": [],
    "expected": [Difference("order", "call 1, start 1", "start 1, call 1", WHY)],
    "unexpected": [Difference("ending", "complete", "error"), Difference("text", "secret", "other secret")],
    "failed": [],
    "running": [],
}


def stored(folder: Path, *outcomes: ShadowOutcome) -> None:
    """Store a shadow run with each outcome; the newest comes first."""
    with RunningApp(settings_for(folder)) as app:
        for at, outcome in enumerate(reversed(outcomes)):
            run = ShadowRun(
                f"run-{outcome}", float(at), "openai/sim", "v2", outcome, 0.1, [as_data(one) for one in FOUND[outcome]]
            )
            assert app.within(app.parts.database.write(reserve_shadow, run, 0.0, 1.0))
            app.within(app.parts.database.write(finish_shadow, run))


def test_the_report_has_every_compared_run(tmp_path: Path, run_command: Command) -> None:
    """Unexpected differences are shown with both sides, without content; runs without a result are only counted."""
    stored(tmp_path, "same", "expected", "unexpected", "failed", "running")
    said = run_command("parity", "--shadow", cwd=tmp_path, SIGNALBOX_DATA_DIR=str(tmp_path))
    lines = said.out.splitlines()
    assert (said.status, lines[:3]) == (
        1,
        [
            "same      run-same openai/sim [made again on v2]",
            "expected  run-expected openai/sim: order [made again on v2]",
            "DIFFERS   run-unexpected openai/sim: ending, text [made again on v2]",
        ],
    )
    assert f"  {WHY}" in lines
    assert lines[lines.index("  run-unexpected openai/sim (openai/sim)") + 1 :][:3] == [
        "    ending (unexpected)",
        "      legacy: complete",
        "      v2: error",
    ]
    assert "secret" not in said.out
    assert "see signalbox replay run-unexpected" in said.out
    assert lines[-1].startswith(
        "3 cases on both loops, answered by the upstreams of the server (shadow mode): 1 the same"
    )
    assert "2 of 5 shadow runs" in said.err


@pytest.mark.parametrize(("outcomes", "advice"), [(["same"], "Nothing prevents"), ([], "There is nothing to compare.")])
def test_without_unexpected_differences_the_status_is_0(
    tmp_path: Path, run_command: Command, outcomes: list[ShadowOutcome], advice: str
) -> None:
    """The report ends with advice."""
    stored(tmp_path, *outcomes)
    said = run_command("parity", "--shadow", cwd=tmp_path, SIGNALBOX_DATA_DIR=str(tmp_path))
    assert (said.status, advice in said.out.splitlines()[-1]) == (0, True)


def test_the_report_as_json(tmp_path: Path, run_command: Command) -> None:
    """It has the totals and the differences of each run."""
    stored(tmp_path, "same", "unexpected")
    said = run_command("parity", "--shadow", "--json", cwd=tmp_path, SIGNALBOX_DATA_DIR=str(tmp_path))
    report = said.report
    assert (report["same"], report["expected"], report["unexpected"]) == (1, 0, 1)
    [_, case] = report["cases"]
    assert [one["kind"] for one in case["differences"]] == ["ending", "text"]
    assert "legacy" not in case
