"""The servers that a load compares in one run: v1.1, chat completions, and an earlier source tree."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench import __main__ as command
from tests.bench.builds import ROOT, python_tools
from tests.bench.figures import BEFORE, PER_V1, Sample, load_figures
from tests.bench.goals import rating_of
from tests.bench.loads import CHAT, COMPLETIONS, PAGES, Load, TargetName, loads
from tests.bench.outcome import Outcome, Percentiles
from tests.bench.processes import Child, Cores, python_path, start
from tests.bench.rig import Rig

OUTCOME = Outcome(1, 0, 200, 1.0, Percentiles(0.1, 0.2), Percentiles(1.0, 1.0), Percentiles(2.0, 2.0))


class Recorder(Rig):
    """A rig that starts nothing and remembers what was asked of which server."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, Cores(), python_tools(""), "relay")
        self.trees: dict[str, Path] = {}
        self.asked: list[tuple[str, dict[str, Any], str]] = []

    def server(
        self, name: str, *, bare: bool = False, upstream: Child | None = None, tree: Path = ROOT, **settings: str
    ) -> Child:
        self.trees[name] = tree
        child: Any = argparse.Namespace(name=name, port=1)
        self.named[name] = child
        return child

    def run_client(self, child: Child, load: Load, body: dict[str, Any], *rest: Any, **named: Any) -> Outcome:
        self.asked.append((child.name, body, rest[1]))
        return OUTCOME


def test_both_protocols_are_asked_of_the_same_server(tmp_path: Path) -> None:
    """Chat completions are a stream of the same process, so that only the protocol differs."""
    rig, load = Recorder(tmp_path), loads(quick=True)[0]
    rig.run_load(load, "server")
    rig.run_load(load, "completions")
    [(one, v1, chat), (other, completions, path)] = rig.asked
    assert (one, chat) == ("server", CHAT)
    assert (other, path) == ("server", COMPLETIONS)
    assert completions == {**v1, "stream": True}


def test_every_page_begins_a_conversation(tmp_path: Path) -> None:
    """Each protocol of pages has its own path on the same server; v1.1 has a conversation, too."""
    rig, load = Recorder(tmp_path), loads(quick=True)[1]
    for target in load.targets:
        rig.run_load(load, target)
    assert {(name, path) for name, _, path in rig.asked} == {("server", path) for path in (CHAT, *PAGES.values())}
    chats = [body.get("conversation_id") or body.get("id") or body["threadId"] for _, body, _ in rig.asked]
    assert chats == ["chat-00000000"] * len(load.targets)


def test_an_earlier_tree_is_another_server(tmp_path: Path) -> None:
    """It is asked what the present server is asked, and has its own source tree."""
    rig, load = Recorder(tmp_path), loads(quick=True)[0]
    rig.before = tmp_path
    for name in ("server", "before"):
        rig.run_load(load, name)
    assert rig.trees == {"server": ROOT, "before": tmp_path}
    assert rig.asked[0][1:] == rig.asked[1][1:]


def test_a_process_has_the_python_path_its_tree(tmp_path: Path) -> None:
    """A server of another tree imports that tree's code."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("print('earlier', flush=True)")
    command = (sys.executable, "-c", "import tests; input()")
    child = start("before", command, tmp_path, frozenset(), reports_cpu=True, PYTHONPATH=python_path(tmp_path))
    try:
        assert child._line() == "earlier\n"
    finally:
        child.end()


def test_ratios_between_servers_are_of_the_same_round() -> None:
    """Chat completions are divided by v1.1, the present server by the earlier one, round by round."""
    load = loads(quick=True)[0]
    spent: dict[TargetName, tuple[float, ...]] = {"server": (4, 50), "completions": (5, 60), "before": (2, 50)}
    samples = [
        Sample(load, target, number, cpu, 0.5, OUTCOME)
        for target, each in spent.items()
        for number, cpu in enumerate(each)
    ]
    figures = {figure.name: figure for figure in load_figures(samples, "nginx")}
    assert figures[PER_V1].values == (1.25, 1.2)
    assert rating_of(figures[PER_V1]) == "reached"
    assert figures[BEFORE].values == (2, 1)


def test_a_tree_without_a_bench_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--against` needs a tree whose server the bench can start."""
    assert command._arguments(["--against", str(ROOT)]).against == ROOT
    with pytest.raises(SystemExit):
        command._arguments(["--against", str(tmp_path)])
    assert "tests/bench/server.py" in capsys.readouterr().err
