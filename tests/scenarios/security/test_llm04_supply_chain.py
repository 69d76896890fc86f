"""LLM04 Supply Chain: packages are pinned by hash, and results of foreign tools are untrusted."""

import re
import tomllib
from pathlib import Path

import pytest
from signalbox.core.tools import ToolSpec
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.registry import built_in

from tests.conftest import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
TRUSTED = {"calculate", "get_current_time", "save_note"}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_package_is_pinned_with_its_hash(lock: Path) -> None:
    """Every package of a lock has hashes and none has a URL."""
    text = lock.read_text(encoding="utf-8")
    packages = re.split(r"\n(?=[a-z])", text.strip())
    assert len(packages) > 1
    assert [one.split()[0] for one in packages if "--hash=sha256:" not in one] == []
    assert [one.split()[0] for one in packages if not re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==", one)] == []
    assert "http://" not in text
    assert "https://" not in text


def test_what_the_project_asks_for_is_exact() -> None:
    """No version is a range, so every update is a reviewed change."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [project["project"]["optional-dependencies"], project["dependency-groups"]]
    named = [one for group in groups for asked in group.values() for one in asked if isinstance(one, str)]
    loose = [one for one in [*project["project"]["dependencies"], *named] if "==" not in one]
    assert loose == ["certifi"]  # root certificates: the newest are right, and the locks pin them


def test_g03_a_foreign_tool_counts_as_outside_unless_it_says_otherwise() -> None:
    """Results and failures of undeclared tools are untrusted; three built-in tools are trusted."""
    spec = ToolSpec("foreign", "A tool of a package.", {"type": "object"})
    assert spec.untrusted
    assert not spec.own_failures
    ours = ToolExecutor(built_in(None, "off")).tools
    assert {tool.spec.name for tool in ours if not tool.spec.untrusted} == TRUSTED
    assert [tool.spec.name for tool in ours if tool.spec.url_argument] == ["read_url"]
