"""What Signalbox says if a package of an extra is not installed."""

import importlib
from importlib.machinery import ModuleSpec

import pytest
import signalbox.app
from signalbox import cli, extras

ADVICE = "belongs to the server, and dotenv is not installed: in a clone of Signalbox, run pip install '.[server]'"


@pytest.fixture
def without_dotenv(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let dotenv look as if it were not installed."""

    def find(name: str) -> ModuleSpec | None:
        return None if name == "dotenv" else ModuleSpec(name, None)

    monkeypatch.setattr(extras, "find_spec", find)


@pytest.mark.usefixtures("without_dotenv")
def test_importing_the_server_without_its_packages_says_what_to_install() -> None:
    """The import of the package fails, whichever of its names a program needs."""
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.reload(signalbox.app)
    assert (str(caught.value), caught.value.name) == (f"signalbox.app {ADVICE}", "dotenv")


def test_a_command_of_the_server_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, not a traceback; a missing module of another package is a defect."""
    missing = "dotenv.parser"

    def fail(*_: object, **__: object) -> int:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr("signalbox.commands.token.list_all", fail)
    assert cli.main(["token", "list"]) == 2
    assert capsys.readouterr().err == f"signalbox: this command {ADVICE}.\n"
    missing = "shop"
    with pytest.raises(ModuleNotFoundError):
        cli.main(["token", "list"])
