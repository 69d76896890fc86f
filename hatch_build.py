"""Put the built page and the docs into the wheel; an editable install reads both from the tree and builds nothing."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Build the page with the node that `build-system.requires` brings."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add frontend/dist as signalbox/_page and docs as signalbox/_docs."""
        if version == "editable":
            return
        page = _load(Path(self.root, "scripts/page.py")).here().build()
        docs = Path(self.root, "docs")
        build_data["force_include"] |= {str(page): "signalbox/_page", str(docs): "signalbox/_docs"}


def _load(path: Path) -> Any:
    """Import a script by its path: scripts/ is no package, and build isolation has only this file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
