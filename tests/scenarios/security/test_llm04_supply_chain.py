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
OF_FILES = {"create_file", "edit_file", "read_file", "list_files", "retrieve_option"}
OF_IMAGES = {"generate_images", "edit_image", "remove_background", "screenshot_preview"}
TRUSTED = {"calculate", "get_current_time", "save_note", *OF_FILES, *OF_IMAGES}


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


def test_what_the_server_asks_for_is_exact() -> None:
    """The server's packages have exact versions, so every update is a reviewed change. Only the library has ranges."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    groups = [*extras.values(), *project["dependency-groups"].values()]
    loose = {one for group in groups for one in group if isinstance(one, str) and "==" not in one}
    assert loose == {"signalbox[server]"}
    exact = {one.partition("==")[0] for one in extras["server"]}
    ranges = [one for one in project["project"]["dependencies"] if re.split(r"[<>=]", one)[0] not in exact]
    assert ranges == ["certifi>=2024.7.4"]  # root certificates: the newest are right, and the locks pin them


def test_g03_a_foreign_tool_counts_as_outside_unless_it_says_otherwise() -> None:
    """Results and failures of undeclared tools are untrusted; built-in tools without outside text are trusted."""
    spec = ToolSpec("foreign", "A tool of a package.", {"type": "object"})
    assert spec.untrusted
    assert not spec.own_failures
    ours = ToolExecutor(built_in(None, "off")).tools
    assert {tool.spec.name for tool in ours if not tool.spec.untrusted} == TRUSTED
    assert [tool.spec.name for tool in ours if tool.spec.url_argument] == ["read_url"]
