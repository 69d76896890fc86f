"""Installs packages for tests: a module on the path with the metadata that an installer writes."""

from collections.abc import Mapping
from pathlib import Path


def installed(folder: Path, name: str, code: str, entries: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Write the package `name` into `folder`; return the environment of a process that has it installed.

    `entries` are its entry points by group: `{"signalbox.tools": {"dice": "acme_dice:tools"}}`.
    """
    (folder / f"{name.replace('-', '_')}.py").write_text(code, encoding="utf-8")
    meta = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        line
        for group, points in entries.items()
        for line in (f"[{group}]", *(f"{point} = {value}" for point, value in points.items()))
    ]
    (meta / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}
