"""Write `.env` from `.env.example` on the first start, with the V2 loop switched on for development."""

import os
import re
import sys
from pathlib import Path

SETTING = "TOOL_LOOP_V2=true"
_LINE = re.compile(r"^[ \t]*#?[ \t]*TOOL_LOOP_V2[ \t]*=.*$", re.MULTILINE)


def with_v2(example: str) -> str:
    """Return the example's text with TOOL_LOOP_V2=true in place of its line, or added at the end."""
    if _LINE.search(example):
        return _LINE.sub(SETTING, example, count=1)
    return f"{example.rstrip()}\n{SETTING}\n".lstrip()


def write_env(root: Path) -> bool:
    """Create `.env`, readable by this user alone, unless it is there or has no example; say whether it was created."""
    example, target = root / ".env.example", root / ".env"
    if not example.exists():
        return False
    text = with_v2(example.read_text(encoding="utf-8"))
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return True


if __name__ == "__main__" and write_env(Path(__file__).resolve().parent.parent):
    sys.stderr.write(f"  wrote .env from .env.example with {SETTING}: put your OPENROUTER_API_KEY there\n")
