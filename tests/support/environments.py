"""Virtual environments with the lowest or the newest versions that a package allows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def environment(folder: Path, project: Path, resolution: str, *more: str) -> Path:
    """Make an environment with the dependencies of a pyproject.toml and more packages; return its Python.

    `resolution` is "lowest-direct" or "highest". Skips the test if the package index cannot be reached, but not in CI.
    """
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--quiet", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    sources = ["--resolution", resolution, "-r", project, *more]
    done = subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, *sources], capture_output=True, text=True, check=False
    )
    if done.returncode and "error sending request" in done.stderr and "CI" not in os.environ:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    return python
