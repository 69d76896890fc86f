"""The code blocks of docs/clients and the Python of README.md: run as printed, against the running server."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clients.environments import NODE, ROOT, node_page, python_of

PAGES = ROOT / "docs" / "clients"
# Which environment runs the Python blocks and the commands of a page.
ENVIRONMENTS = {
    "command-line.md": "llm",
    "langchain.md": "langchain",
    "litellm.md": "litellm",
    "llamaindex.md": "llama-index",
    "openrouter.md": "openrouter",
    "python-client.md": "openrouter",  # any environment with httpx
}
_PRINTED_ADDRESS = "http://127.0.0.1:8000"
_SECONDS = 90
# A block to run, and the block behind it if that shows the output.
_BLOCK = re.compile(r"^```(python|js|sh)\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """One block of a page, with the output that the page shows below it."""

    page: str
    language: str
    code: str
    output: str | None

    @property
    def name(self) -> str:
        return f"{self.page}: {self.code.strip().splitlines()[0]}"

    def run(self, url: str) -> str:
        """Run the block; return what went wrong, or an empty string."""
        environment = ENVIRONMENTS.get(self.page, "openai")
        python = python_of(environment)
        commands = {
            "python": [str(python), "-c"],
            "js": [str(node_page().bin / "node"), "--input-type=module", "--eval"],
            "sh": ["bash", "-euo", "pipefail", "-c"],
        }
        with tempfile.TemporaryDirectory() as folder:
            path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
            done = subprocess.run(
                [*commands[self.language], self.code.replace(_PRINTED_ADDRESS, url)],
                stdin=subprocess.DEVNULL,
                cwd=NODE if self.language == "js" else folder,
                env={
                    **os.environ,
                    "PATH": path,
                    "PYTHONPATH": str(ROOT / "clients" / "python"),
                    "LLM_USER_PATH": folder,
                    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                },
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
            )
        if done.returncode:
            return done.stderr or done.stdout
        if self.output is not None and done.stdout != self.output:
            return f"printed\n{done.stdout}\ninstead of\n{self.output}"
        return ""


def snippets() -> Iterator[Snippet]:
    """Yield the blocks of all pages, and the Python blocks of the repository's README."""
    yield from (snippet for snippet in snippets_of(ROOT / "README.md") if snippet.language == "python")
    for path in sorted(PAGES.glob("*.md")):
        yield from snippets_of(path)


def snippets_of(path: Path) -> Iterator[Snippet]:
    """Yield the blocks of a page that can be run."""
    for language, code, output in _BLOCK.findall(path.read_text(encoding="utf-8")):
        yield Snippet(path.name, language, code, output or None)
