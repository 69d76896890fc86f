"""Pinned requirements, targets and the report of the peer comparison."""

import re
from typing import Any

import pytest

from tests.bench.outcome import Outcome, Percentiles
from tests.bench.peers import __main__ as comparison
from tests.bench.peers import install
from tests.bench.peers.loads import ONCE, ROUNDS, Sample
from tests.bench.peers.report import rows, text
from tests.bench.peers.targets import PEERS, SCRIPTS, signalbox


def sample(target: str, load: str, number: int, cpu: float, *, failed: int = 0, total: float = 0.0) -> Sample:
    """Make one sample of 100,000 events."""
    shares = Percentiles(total, total)
    outcome = Outcome(10, failed, 100_000, 1.0, shares, shares, shares)
    return Sample(load, target, number, 100_000, cpu, outcome, idle=80.0)


@pytest.mark.parametrize("name", PEERS)
def test_requirements_are_exact_versions(name: str) -> None:
    """Each line pins one package to one version without a URL, and the peer's version is found."""
    pinned = install.requirement(name)
    assert "://" not in pinned
    if name != "vercel":
        assert all(re.fullmatch(r"[\w.-]+(\[\w+\])?==[\w.]+", line) for line in pinned.splitlines())
    else:
        assert re.findall(r'": "[^\d]', pinned.partition("dependencies")[2]) == []
    assert re.fullmatch(r"\d+(\.\d+)+", install.version(name))


def test_tensorzero_has_a_model_per_script() -> None:
    """SCRIPTS lists the scripts of all loads, because TensorZero needs a configuration per model."""
    assert {load.script for load in (*ROUNDS, *ONCE)} == set(SCRIPTS)


def test_a_peer_that_cannot_be_installed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other targets are compared, and the reason is printed."""

    def ensure_installed(name: str) -> Any:
        raise install.NotInstalled(f"no {name} today.")

    monkeypatch.setattr(install, "ensure_installed", ensure_installed)
    rig: Any = type("Rig", (), {"relay_name": "nginx"})()
    targets, versions = comparison._targets(rig, {"litellm"})
    assert [target.name for target in targets] == ["nginx", signalbox().name]
    assert versions == {}
    assert "litellm is left out. no litellm today." in capsys.readouterr().err


def test_ratios_are_medians_over_the_rounds() -> None:
    """A round in which all targets were slow counts like any other."""
    samples = [
        *(sample("signalbox", "burst", number, cpu) for number, cpu in enumerate((1.0, 10.0, 2.0))),
        *(sample("LiteLLM", "burst", number, cpu) for number, cpu in enumerate((60.0, 500.0, 160.0))),
    ]
    row = rows(samples, {"LiteLLM": "1.2"})[1]
    assert (row.burst, row.burst_to_ours) == pytest.approx((160.0, 60.0))
    assert "60.0 times less CPU than LiteLLM (reach 60, aim 80)" in text([row])
    assert "LiteLLM 1.2" in text([row])


def test_a_load_with_failed_streams_has_no_figure() -> None:
    """The report names the failed streams instead."""
    row = rows([sample("LiteLLM", "args", 0, 60.0, failed=1, total=60_000.0)], {})[0]
    assert row.args_s is None
    assert "LiteLLM, args: 1 streams failed or were not done after 60 s" in text([row])
