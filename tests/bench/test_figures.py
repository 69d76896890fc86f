"""The benchmark's figures, goals, baseline and options."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from signalbox.app import database_setup, main

from tests.bench import __main__ as command
from tests.bench import baseline, fresh_server
from tests.bench.builds import VARIABLE, build_tools
from tests.bench.encoders import encoder_figures
from tests.bench.figures import Figure, Sample, load_figures
from tests.bench.goals import GOALS, rating_of
from tests.bench.growth import DoubledLoad
from tests.bench.loads import Load, churn, loads
from tests.bench.outcome import Outcome, Percentiles
from tests.bench.processes import Child, Cores
from tests.bench.report import as_json, figures_table, loads_table
from tests.bench.rig import Rig
from tests.bench.runner import runner_figures
from tests.bench.server import disable_journal
from tests.support.running_app import RunningApp, settings_for


def test_adding_the_results_of_two_steps() -> None:
    """Times and failures are added, the number of streams is not."""
    both = outcome(total=3.0, failed=1) + outcome(total=0.5)
    assert (both.streams, both.failed, both.total.p50) == (1, 1, 3.5)


def test_ratios_compare_samples_of_one_round() -> None:
    """A ratio is the median of the ratios of the rounds, so that a slow round does not distort it."""
    samples = samples_of("burst", "relay", (1, 10, 1)) + samples_of("burst", "server", (4, 50, 6))
    figures = {figure.name: figure for figure in load_figures(samples, "nginx")}
    assert figures["CPU ÷ nginx"].values == (4, 5, 6)
    assert figures["CPU ÷ nginx"].value == 5
    assert figures["CPU ÷ work"].value == 6 / 200 / 0.5
    assert figures["CPU-s per 100k events"].value == pytest.approx(15)


def test_latency_excludes_the_upstreams() -> None:
    """The latencies of `one` and `tools` are the server's minus the upstream's."""
    samples = samples_of("one", "direct", (0, 0), 0.2) + samples_of("one", "server", (1, 1), 1.4)
    [first, *_] = load_figures(samples, "nginx")
    assert (first.name, first.value) == ("first event over upstream's", pytest.approx(1.2))


def test_every_goal_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key of GOALS is the row and name of a measured figure."""
    monkeypatch.setattr(fresh_server, "_IDLE", 0)
    samples = [
        sample
        for load in (*loads(quick=True), churn(quick=True))
        for target in load.targets
        for sample in samples_of(load.row, target, (1.0,), load=load)
    ]
    rig = cast("Rig", EmptyRig())
    figures = [
        *load_figures(samples, "nginx"),
        *fresh_server.starts(rig, 1),
        *fresh_server.memory(rig, quick=True),
        *encoder_figures(1),
        *runner_figures(1, 1),
    ]
    goals = {
        goal for goal in GOALS if goal[0] not in ("dialects", "metrics", "variants")
    }  # their own tests measure those
    assert goals <= {(figure.row, figure.name) for figure in figures}


@pytest.mark.parametrize(("value", "rating"), [(0.6, "aimed"), (0.61, "reached"), (0.75, "reached"), (0.76, "missed")])
def test_rating_a_figure(value: float, rating: str) -> None:
    """The rating is `aimed` up to the aim, `reached` up to the goal, and `missed` above it."""
    assert rating_of(Figure("burst", "CPU-s per 100k events", (value,))) == rating
    assert rating_of(Figure("burst", "CPU ÷ relay", (value,))) == ""


def test_doublings_are_compared_with_the_size_before() -> None:
    """A quadratic cost is marked `grows`; a linear cost is not."""
    for power, ratio, rating in ((1, 2, ""), (2, 4, "grows")):
        load_sizes = DoubledLoad(
            "grow-answer", (10, 20, 40), "events", lambda child, size, power=power: float(size**power)
        )
        for is_odd in (False, True):
            load_sizes.measure_sizes(cast("Child", None), is_odd=is_odd)
        first, second, largest = load_sizes.figures()
        assert (first.values, second.values, largest.value) == ((ratio, ratio), (ratio, ratio), 1000 * 40**power)
        assert (rating_of(first), rating_of(second), rating_of(largest)) == (rating, rating, "")


def ratios(nginx: float, work: float) -> list[Figure]:
    """Return the two CPU ratios of a row."""
    return [Figure("burst", name, (value,), "×", alike="cpu") for name, value in (("÷ nginx", nginx), ("÷ work", work))]


@pytest.mark.parametrize(
    ("nginx", "work", "is_slower"),
    [(8, 0.2, False), (16, 0.4, True), (16, 0.2, False), (8, 0.4, False), (4, 0.8, False), (12, 0.3, False)],
)
def test_a_row_is_slower_if_its_mean_ratio_is(nginx: float, work: float, is_slower: bool) -> None:
    """A row fails if both ratios double; noise or one changed ratio is tolerated."""
    slower, number = baseline.compare(ratios(nginx, work), {"burst": {"÷ nginx": 8, "÷ work": 0.2}})
    assert (bool(slower), number) == (is_slower, 2)


def test_the_message_about_a_slower_row() -> None:
    """The message names the row, the ratio and the baseline."""
    [slower], _ = baseline.compare(ratios(18, 0.4), {"burst": {"÷ nginx": 8, "÷ work": 0.2}})
    assert str(slower) == "burst: ÷ nginx is 18, 2.2 times the baseline's 8; up to 1.6 times may be noise."


def test_storing_and_loading_a_baseline(tmp_path: Path) -> None:
    """Only compared figures are stored, per tools; other rows stay, and tools without a baseline compare nothing."""
    file = tmp_path / "baseline.json"
    assert baseline.load_ratios(file) == {}
    baseline.store([*ratios(8, 0.2), Figure("burst", "CPU-s", (3.0,), "s")], "C with nginx", file)
    baseline.store([Figure("start", "idle memory", (80.0,), alike="memory")], "C with nginx", file)
    stored = baseline.load_ratios(file)
    assert stored == {"C with nginx": {"burst": {"÷ nginx": 8, "÷ work": 0.2}, "start": {"idle memory": 80}}}
    assert baseline.compare(ratios(99, 99), stored.get("Python with relay", {})) == ([], 0)


def test_a_doubling_below_1_is_stored_as_1(tmp_path: Path) -> None:
    """A doubling below 1 is noise; stored as 1, it does not make the next run look slower."""
    file = tmp_path / "baseline.json"
    baseline.store([Figure("grow-list", "second doubling", (0.7,), alike="growth")], "C", file)
    assert baseline.load_ratios(file) == {"C": {"grow-list": {"second doubling": 1.0}}}


@pytest.mark.parametrize(("again", "is_slower"), [((8, 0.2), False), ((18, 0.5), True)])
def test_a_slower_row_is_measured_again(
    again: tuple[float, float], is_slower: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the slower row is measured again, and the second result counts."""
    monkeypatch.setattr(baseline, "load_ratios", lambda: {"C": {"burst": {"÷ nginx": 8, "÷ work": 0.2}}})
    measured: list[list[str]] = []

    def measure(rows: list[str]) -> list[Figure]:
        measured.append(rows)
        return ratios(*again)

    bench = cast("command.Bench", SimpleNamespace(measure=measure))
    assert bool(command._check_baseline(bench, ratios(18, 0.5), "C")) == is_slower
    assert measured == [["burst"]]


def test_choosing_rows() -> None:
    """Rows are chosen by name or prefix; by default all run, except in a comparison those that are never compared."""
    assert command.choose_rows(["burst"], is_compared=False) == ["burst"]
    assert command.choose_rows(["grow", "one"], is_compared=False) == ["one", *command.GROWTH]
    every = command.choose_rows([], is_compared=False)
    without = {"churn", "dialects", "metrics", "traces", "variants"}
    assert set(every) - set(command.choose_rows([], is_compared=True)) == without
    assert {load.row for load in loads(quick=True)} == set(command.LOADS)


@pytest.mark.parametrize("given", [["paced,tools"], ["paced", "tools"], ["paced", "--only", "tools"]])
def test_the_option_only(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Names are separated by commas or spaces; an unknown name is rejected with the list of rows."""
    rows = command._arguments(["--quick", "--only", *given]).only
    assert command.choose_rows(rows, is_compared=False) == ["paced", "tools"]
    assert command._arguments([]).only == []
    with pytest.raises(SystemExit):
        command._arguments(["--only", "paced,nothing"])
    assert "no row is called nothing; the rows are burst," in capsys.readouterr().err


def test_tables_and_json_have_all_figures() -> None:
    """The table has a line per figure, and the JSON has the samples of each round."""
    samples = samples_of("burst", "relay", (1, 1)) + samples_of("burst", "server", (2, 2))
    figures = load_figures(samples, "nginx")
    assert len(figures_table(figures).splitlines()) == 1 + len(figures)
    assert len(loads_table(samples).splitlines()) == 3
    file = orjson.loads(orjson.dumps(as_json(figures, samples, {"tools": "C"})))
    assert [one["name"] for one in file["figures"]] == [figure.name for figure in figures]
    assert [one["cpu"] for one in file["samples"]] == [1, 1, 2, 2]
    assert file["figures"][0]["goal"] == {"reach": 0.75, "aim": 0.6}


def test_without_c_sources_the_python_tools_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python tools are used if the C sources are missing or do not compile, and `why` names the reason."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert (build_tools(tmp_path).kind, build_tools(tmp_path).load[-1]) == ("Python", "tests.bench.load_client")
    assert VARIABLE in build_tools(tmp_path).why
    for name in ("fakeup.c", "loadgen.c"):
        (tmp_path / name).write_text("this is no C")
    assert build_tools(tmp_path).kind == "Python"


@pytest.mark.parametrize("is_bare", [False, True])
def test_the_server_without_a_journal(is_bare: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stores a run with all events; without the journal it answers the same and stores nothing."""
    if is_bare:
        monkeypatch.setattr(main, "JournalStore", main.JournalStore)
        disable_journal()
    with RunningApp(settings_for(tmp_path)) as app:
        heard = app.ask("Hello!")
        app.within(app.parts.runs.store.flush())
        assert app.call(lambda: app.parts.runs.live(heard.ids[0].partition(":")[0])) is None
    with closing(sqlite3.connect(tmp_path / database_setup.FILE)) as database:
        runs = database.execute("SELECT seq FROM runs").fetchall()
        [(flushes, last)] = database.execute("SELECT count(*), max(last_seq) FROM journal").fetchall()
    assert heard.text
    if is_bare:
        assert (runs, flushes, last) == ([], 0, None)
    else:
        assert (runs, flushes > 0, last) == ([(heard.seqs[-1],)], True, heard.seqs[-1])


class EmptyRig:
    """A rig without processes."""

    cores = Cores()

    def upstream(self) -> None:
        """Do nothing."""

    def server(self, name: str) -> Any:
        return SimpleNamespace(cpu=lambda: 1.0, memory=lambda: 50_000.0)

    def end(self, child: Any) -> None:
        """Do nothing."""

    def run_client(self, *arguments: Any) -> Outcome:
        return outcome()

    @contextmanager
    def start_client(self, *arguments: Any) -> "Iterator[Any]":
        result = {"streams": 1, "failed": 0, "bad_status": 0, "events": 12, "wall_s": 1.0}
        result |= {name: {"n": 0} for name in ("added_us", "tte_us", "total_us")}
        yield SimpleNamespace(poll=lambda: 0, communicate=lambda: (orjson.dumps(result), ""))


def outcome(total: float = 1.0, failed: int = 0) -> Outcome:
    """Return the outcome of one stream."""
    return Outcome(1, failed, 20, 1.0, Percentiles(0.1, 0.2), Percentiles(total, total), Percentiles(total, total))


def samples_of(
    row: str, target: Any, cpu: Sequence[float], total: float = 1.0, load: Load | None = None
) -> list[Sample]:
    """Return a sample per round."""
    load = load or next(load for load in loads(quick=True) if load.row == row)
    return [Sample(load, target, number, spent, 0.5, outcome(total)) for number, spent in enumerate(cpu)]
