"""Write `.env` from `.env.example` on the first start."""

import os
import sys
from pathlib import Path


def write_env(root: Path) -> bool:
    """Create `.env`, readable only by this user, if there is an example and no `.env`; return whether it did."""
    example, target = root / ".env.example", root / ".env"
    if not example.exists():
        return False
    text = example.read_text(encoding="utf-8")
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return True


if __name__ == "__main__" and write_env(Path(__file__).resolve().parent.parent):
    sys.stderr.write("  wrote .env from .env.example: put your OPENROUTER_API_KEY there\n")
