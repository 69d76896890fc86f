"""One version number everywhere: packages, clients, deployments, the changelog and the upgrade guide."""

import json
import re
import tomllib

import pytest
from signalbox import __version__

from tests.conftest import ROOT


@pytest.mark.parametrize("path", ["pyproject.toml", "clients/python/pyproject.toml"])
def test_python_packages(path: str) -> None:
    """The server and the Python client are released together."""
    assert tomllib.loads((ROOT / path).read_text())["project"]["version"] == __version__


@pytest.mark.parametrize("folder", ["frontend", "clients/typescript"])
def test_npm_packages(folder: str) -> None:
    """The page and the TypeScript client, with their lock files."""
    for name in ("package.json", "package-lock.json"):
        assert json.loads((ROOT / folder / name).read_text())["version"] == __version__


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("deploy/compose.yaml", "image: signalbox:{}\n"),
        ("deploy/kubernetes/kustomization.yaml", "newTag: {}\n"),
        ("docs/kubernetes.md", "/signalbox:{} "),
        ("clients/typescript/README.md", "signalbox-client-{}.tgz"),
        ("docs/clients/typescript-client.md", "signalbox-client-{}.tgz"),
        ("docs/upgrading.md", "`v{}`"),
    ],
)
def test_deployments_and_docs(path: str, words: str) -> None:
    """Images, tags and commands name the version."""
    assert words.format(__version__) in (ROOT / path).read_text()


def test_the_changelog() -> None:
    """The newest version with a date is this one."""
    released = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert released[0] == __version__
