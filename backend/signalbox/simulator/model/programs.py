"""Programs that the simulated model writes: from templates, else a labelled outline."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ASKS = re.compile(
    r"\b(?:write|make|create|give|need|generate|show|code)\b.{0,60}?"
    r"\b(?:script|function|program|code|snippet|one-liner)\b",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGES = {
    "python": r"python|py",
    "typescript": r"typescript|ts",
    "javascript": r"javascript|js|node(?:\.js)?",
    "bash": r"bash|shell|zsh|terminal",
    "go": r"go|golang",
    "rust": r"rust",
}
_COMMENT = {"python": "#", "bash": "#"}
_OUTLINE = {
    "python": "def {snake}():\n    {todo}\n    raise NotImplementedError\n\n\n{snake}()",
    "typescript": 'function {camel}(): void {{\n  {todo}\n  throw new Error("not implemented");\n}}\n\n{camel}();',
    "javascript": 'function {camel}() {{\n  {todo}\n  throw new Error("not implemented");\n}}\n\n{camel}();',
    "bash": "#!/usr/bin/env bash\nset -euo pipefail\n\n{snake}() {{\n  {todo}\n  return 1\n}}\n\n{snake}",
    "go": 'package main\n\nfunc {camel}() {{\n\t{todo}\n\tpanic("to do")\n}}\n\nfunc main() {{\n\t{camel}()\n}}',
    "rust": "fn {snake}() {{\n    {todo}\n    unimplemented!()\n}}\n\nfn main() {{\n    {snake}();\n}}",
}

_RENAME_PYTHON = """from datetime import datetime
from pathlib import Path

FOLDER = Path("photos")
TYPES = {".jpg", ".jpeg", ".png", ".heic"}

photos = sorted(path for path in FOLDER.iterdir() if path.suffix.lower() in TYPES)
for number, photo in enumerate(photos, 1):
    day = datetime.fromtimestamp(photo.stat().st_mtime)
    target = photo.with_name(f"{day:%Y-%m-%d}_{number:03}{photo.suffix.lower()}")
    if target.exists():
        print(f"skipped {photo.name}: {target.name} exists")
        continue
    photo.rename(target)
    print(f"{photo.name} -> {target.name}")"""
_RENAME_BASH = """#!/usr/bin/env bash
set -euo pipefail
shopt -s nullglob nocaseglob

cd photos
number=0
for photo in *.jpg *.jpeg *.png *.heic; do
  number=$((number + 1))
  day=$(date -r "$photo" +%Y-%m-%d)
  target=$(printf '%s_%03d.%s' "$day" "$number" "${photo##*.}")
  mv -nv -- "$photo" "$target"
done"""
_RENAME_JAVASCRIPT = """import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { extname, join } from "node:path";

const folder = "photos";
const types = new Set([".jpg", ".jpeg", ".png", ".heic"]);

const photos = readdirSync(folder).filter((name) => types.has(extname(name).toLowerCase()));
photos.sort().forEach((name, index) => {
  const day = statSync(join(folder, name)).mtime.toISOString().slice(0, 10);
  const target = `${day}_${String(index + 1).padStart(3, "0")}${extname(name).toLowerCase()}`;
  if (existsSync(join(folder, target))) return console.log(`skipped ${name}: ${target} exists`);
  renameSync(join(folder, name), join(folder, target));
  console.log(`${name} -> ${target}`);
});"""


@dataclass(frozen=True, slots=True)
class _Task:
    """A task with templates in some languages."""

    asked: re.Pattern[str]
    about: str
    code: Mapping[str, str]
    notes: tuple[str, ...]


_TASKS = (
    _Task(
        re.compile(r"\brenam(?:e|es|ing)\b.*\b(?:photos?|pictures?|images?|files?)\b", re.IGNORECASE | re.DOTALL),
        "It renames each photo in the folder `photos` to the day it was last changed and a number.",
        {"python": _RENAME_PYTHON, "bash": _RENAME_BASH, "javascript": _RENAME_JAVASCRIPT},
        (
            "Copy a few photos to a folder named `photos` and try it there first.",
            "Run the script from the folder that holds `photos`.",
            "Photos whose new name is already taken are left alone.",
        ),
    ),
)


def asks_for_program(text: str) -> bool:
    """Return whether a text asks for a program."""
    return bool(_ASKS.search(text[:2_000]))


def program(question: str) -> str:
    """Return the program that a question asks for, with a description and notes."""
    language = _language(question)
    task = next((task for task in _TASKS if task.asked.search(question)), None)
    if task and language in task.code:
        notes = "\n".join(f"{number}. {note}" for number, note in enumerate(task.notes, 1))
        return f"{task.about}\n\n{_block(language, task.code[language])}\n\n{notes}\n\n{_FROM_TEMPLATE}"
    return f"{_OUTLINE_ONLY}\n\n{_block(language, _outline(question, language))}"


_FROM_TEMPLATE = "I am a simulated model, and this code comes from a template: read it before you run it."
_OUTLINE_ONLY = (
    "I am a simulated model without a template for this, so here is an outline. A real model would write the rest."
)


def _language(question: str) -> str:
    """Return the first language that the question names, else Python."""
    found = {
        language: match.start()
        for language, names in _LANGUAGES.items()
        if (match := re.search(rf"\b(?:{names})\b", question, re.IGNORECASE))
    }
    return min(found, key=found.__getitem__, default="python")


def _outline(question: str, language: str) -> str:
    what = re.split(r"\b(?:that|which|to|for)\b", question, maxsplit=1)[-1]
    words = re.findall(r"[A-Za-z]+", what.lower())[:4] or ["run"]
    todo = f"{_COMMENT.get(language, '//')} To do: {' '.join(what.split()).rstrip('.?! ')[:80]}"
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    return _OUTLINE[language].format(snake="_".join(words), camel=camel, todo=todo)


def _block(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"
