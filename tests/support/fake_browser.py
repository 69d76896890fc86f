"""An executable that speaks as much of the DevTools protocol as screenshots need, and behaves as a test scripts it."""

import sys
from pathlib import Path

# `MODE`: works, ends (at once), ends_later (when a page is opened), hangs (the page never loads), rejects.
_SCRIPT = """#!{python} -IS
import base64, json, os, sys, time
MODE, LOG = {mode!r}, {log!r}
with open(LOG, "a") as log:
    log.write(json.dumps({{"arguments": sys.argv[1:], "environment": dict(os.environ)}}) + "\\n")
if MODE == "ends":
    sys.exit(1)
RESULTS = {{
    "Browser.getVersion": {{"product": "Fake/1"}},
    "Target.createTarget": {{"targetId": "t"}},
    "Target.attachToTarget": {{"sessionId": "s"}},
    "Page.getLayoutMetrics": {{"cssContentSize": {{"width": 390, "height": 9000.4}}}},
    "Page.captureScreenshot": {{"data": base64.b64encode(b"\\x89PNG\\r\\n\\x1a\\n").decode()}},
}}
def send(**message):
    os.write(4, json.dumps(message).encode() + b"\\0")
buffer = b""
while chunk := os.read(3, 65536):
    *lines, buffer = (buffer + chunk).split(b"\\0")
    for line in lines:
        asked = json.loads(line)
        method = asked["method"]
        with open(LOG, "a") as log:
            log.write(json.dumps(asked) + "\\n")
        if method == "Target.createTarget" and MODE == "ends_later":
            sys.exit(1)
        if method == "Page.navigate" and MODE == "rejects":
            send(id=asked["id"], error={{"message": "No"}})
            continue
        send(id=asked["id"], result=RESULTS.get(method, {{}}))
        if method == "Page.navigate" and MODE != "hangs":
            send(method="Page.loadEventFired", sessionId="s", params={{}})
"""


def fake_browser(folder: Path, mode: str = "works") -> Path:
    """Write the executable; its arguments, environment and commands are in `log` beside it, a line of JSON each."""
    path = folder / "browser"
    path.write_text(_SCRIPT.format(python=sys.executable, mode=mode, log=str(folder / "log")))
    path.chmod(0o755)
    return path
