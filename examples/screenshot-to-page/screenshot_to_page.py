"""Turn a picture of a web page into files.

python screenshot_to_page.py mockup.png --then "make the heading blue" --output page
"""

import argparse
import base64
import io
import mimetypes
import os
import sys
import uuid
import zipfile
from pathlib import Path
from typing import Any

from signalbox_client import Content, Preview, Previews, Signalbox, ToolCalls, ToolResult

SYSTEM = Path(__file__).with_name("system.md")
TOOLS = ["create_file", "edit_file", "read_file", "list_files"]


def picture(path: Path) -> dict[str, Any]:
    """Return a picture as a part of a message."""
    kind = mimetypes.guess_type(path.name)[0] or "image/png"
    data = base64.b64encode(path.read_bytes()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


def ask(client: Signalbox, content: str | list[dict[str, Any]], **question: Any) -> None:
    """Send a message of the conversation, and print the answer and how far each file is."""
    previews, sizes = Previews(), dict[str, int]()
    with client.stream(messages=[{"role": "user", "content": content}], tools=TOOLS, previews=True, **question) as run:
        for event in run:
            previews.add(event)
            match event:
                case Content(content=text):
                    print(text, end="", flush=True)
                case Preview(id=call_id):
                    progress(previews.texts.get(call_id, {}), sizes, call_id)
                case ToolCalls():
                    print()
                case ToolResult(name=name, result=result):
                    print(f"  {name}: {'ok' if result.success else result.error}")
    print()
    run.answer().raise_for_status()


def progress(texts: dict[str, str], sizes: dict[str, int], call_id: str) -> None:
    """Print the size of a file that is being written, after each further kilobyte."""
    size = len(texts.get("/content", "")) // 1000
    if size > sizes.get(call_id, 0):
        sizes[call_id] = size
        print(f"\n  {texts.get('/path', 'a file')} … {size} kB", end="", flush=True)


def save(client: Signalbox, conversation_id: str, folder: Path) -> list[str]:
    """Download the files of the conversation into a folder; return their paths."""
    archive = client.conversations.files(conversation_id).archive()
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(folder)
        return files.namelist()


def main(arguments: list[str]) -> int:
    """Build the page, change it, and save its files."""
    parser = argparse.ArgumentParser(description="Turn a picture of a web page into files.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--prompt", default="Build this page.")
    parser.add_argument("--then", action="append", default=[], metavar="CHANGE", help="a change; can be repeated")
    parser.add_argument("--output", type=Path, default=Path("page"))
    parser.add_argument("--model", default="openai/sim", help="a model that reads images")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    given = parser.parse_args(arguments)
    conversation_id = f"page-{uuid.uuid4().hex[:12]}"
    fixed: dict[str, Any] = {"model": given.model, "conversation_id": conversation_id, "max_steps": 20}
    with Signalbox(given.url, token=os.environ.get("SIGNALBOX_TOKEN")) as client:
        first = [{"type": "text", "text": given.prompt}, picture(given.picture)]
        ask(client, first, system=SYSTEM.read_text(encoding="utf-8"), **fixed)
        for change in given.then:
            print(f"\n> {change}")
            ask(client, change, **fixed)
        paths = save(client, conversation_id, given.output)
    print(f"\nSaved to {given.output}: {', '.join(paths)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
