"""Write the synchronous client, `signalbox_client/_sync`, from the asynchronous one, `signalbox_client/_async`."""

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "signalbox_client"
_WORDS = {
    r"\basync (?=def|with|for)|\bawait ": "",
    r"`async with`": "`with`",
    r"\bAsync(?=[A-Z])": "",
    r"_async\b": "_sync",
    r"\basyncio\b": "time",
    r"\banext\(": "next(",
    r"\baiter_bytes\b": "iter_bytes",
    r"\baread\b": "read",
    r"\baclose\b": "close",
    r"\b__a(?=enter__|exit__|iter__|next__)": "__",
    r"\bStopAsyncIteration\b": "StopIteration",
    r"\ban asynchronous context\b": "a context",
    r"^.*the source of the synchronous one": '"""The synchronous client, written by make_sync.py',
    r"from any task": "from any thread",
}


def sync_files() -> dict[str, str]:
    """Return the text of each file of the synchronous client."""
    return {path.name: _converted(path) for path in sorted((PACKAGE / "_async").glob("*.py"))}


def _converted(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    for word, replacement in _WORDS.items():
        text = re.sub(word, replacement, text)
    return _ruff("format", _ruff("check --select I --fix-only --quiet", text, path), path)


def _ruff(command: str, text: str, path: Path) -> str:
    ruff = str(Path(sys.executable).with_name("ruff"))
    shown = str(PACKAGE / "_sync" / path.name)
    arguments = [ruff, *command.split(), "--stdin-filename", shown, "-"]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=PACKAGE).stdout


if __name__ == "__main__":
    (PACKAGE / "_sync").mkdir(exist_ok=True)
    for name, text in sync_files().items():
        (PACKAGE / "_sync" / name).write_text(text, encoding="utf-8")
