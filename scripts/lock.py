"""Compile the lock files in requirements/ from pyproject.toml, with hashes and without index lines.

Each includes the previous. Each client in tests/clients/requirements, and each
library in tests/comparison/requirements, has a separate lock.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate"),
)
NAMES = ("server", "ddgs", "oidc", "openfeature", "otel", "postgres", "scrapingbee")
EXTRAS = tuple(word for name in NAMES for word in ("--extra", name))
# lock file → its sources
LOCKS = {
    "tools": ("--group", "tools"),
    "run": ("pyproject.toml", *EXTRAS, "--group", "tools", "--group", "build"),
    "dev": ("pyproject.toml", *EXTRAS, "--group", "dev"),
}


def main(arguments: list[str]) -> int:
    """Compile the lock files in order; each uses the versions of the previous one."""
    held: tuple[str, ...] = ()
    for name, wanted in LOCKS.items():
        target = f"requirements/{name}.txt"
        done = subprocess.run([*COMPILE, *wanted, *held, "-o", target, *arguments], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
        held = ("--constraint", target)
    for wanted in sorted((ROOT / "tests").glob("*/requirements/*.in")):
        done = subprocess.run([*COMPILE, wanted, "-o", wanted.with_suffix(".txt"), *arguments], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
