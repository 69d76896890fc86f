"""The libraries that are compared: their environments, their programs and their versions."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.clients.environments import ROOT, install_python, python_of

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Library:
    """A library; its `environment` names its lock, and is empty for Signalbox, which runs from the source tree."""

    name: str
    package: str
    program: str
    environment: str
    path: str = "/v1"

    def install(self) -> None:
        """Install the library into its environment."""
        if self.environment:
            install_python(self.environment, HERE)

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return python_of(self.environment, HERE) if self.environment else Path(sys.executable)

    @property
    def version(self) -> str:
        """The version in its lock."""
        if not self.environment:
            return _version_in(ROOT / "backend/signalbox/__init__.py", r'__version__ = "(.+)"')
        return _version_in(HERE / "requirements" / f"{self.environment}.txt", rf"^{self.package}==(\S+)")


def _version_in(file: Path, pattern: str) -> str:
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, file
    return found[1]


SIGNALBOX = Library("Signalbox", "signalbox", "signalbox_program.py", "", "/api/v1")
ANTHROPIC = Library("anthropic", "anthropic", "anthropic_program.py", "anthropic", "")
OPENAI_AGENTS = Library("openai-agents", "openai-agents", "openai_agents_program.py", "openai-agents")
PYDANTIC_AI = Library("pydantic-ai", "pydantic-ai-slim", "pydantic_ai_program.py", "pydantic-ai")
LIBRARIES = (SIGNALBOX, ANTHROPIC, OPENAI_AGENTS, PYDANTIC_AI)
