# Every command of the project. `./just VERB` installs just, uv and node first; with just installed, `just VERB` works too.

set positional-arguments
set quiet
set shell := ["sh", "-eu", "-c"]

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

# list the verbs
default:
    ./just --list --unsorted

# serve Signalbox on 127.0.0.1:8000; arguments go to `signalbox serve` (--host, --port)
[no-exit-message]
start *args: _run
    python scripts/first_start.py
    python scripts/page.py build
    exec signalbox serve "$@"

# the command `signalbox` with its verbs: doctor, backup, restore, token, replay, parity, eval, decode, check-stream
[no-exit-message]
signalbox *args: _run
    exec signalbox "$@"

# run every check and test; with arguments, only pytest, with these arguments
[no-exit-message]
test *args: _dev
    exec python scripts/verify.py test "$@"

# check lint, format, retired words, import rules and types; runs no tests
[no-exit-message]
check: _dev
    python scripts/verify.py check

# apply the automatic fixes of ruff and biome
fix: _dev
    ruff check --fix --exit-zero --quiet .
    ruff format .
    python scripts/page.py run fix
    python scripts/page.py client fix

# run the simulator alone on a loopback port
[no-exit-message]
simulate *args: _run
    exec signalbox simulate "$@"

# test the real app in a real browser
[no-exit-message]
e2e *args: _dev
    python scripts/page.py build
    python scripts/page.py run e2e "$@"

# build the example pages, and test them in a real browser against a real server
[no-exit-message]
e2e-examples *args: _dev
    python scripts/page.py examples
    python scripts/page.py run e2e --config e2e/examples/playwright.config.ts "$@"

# run the eval sets of examples/evals with the simulator, and print where the reports are
[no-exit-message]
evals: _dev
    folder=$(mktemp -d) && for set in examples/evals/*.toml; do \
        signalbox eval "$set" --simulate --output "$folder/$(basename "$set" .toml)"; done

# run the Bruno collection with the loop flag off, on and locked (or as named)
[no-exit-message]
bruno *args: _dev
    exec python scripts/bruno.py "$@"

# run real SDKs of OpenAI and OpenRouter, and the snippets of docs/clients, against a server (or the named clients)
[no-exit-message]
clients *args: _dev
    exec python -m tests.clients "$@"

# play 200 rollouts through the real guard, store their results and print the table of docs/rollout.md
[no-exit-message]
rollout-simulation: _dev
    exec python -m tests.support.rollout_simulation

# test every model of the live matrix against the real OpenRouter; costs money and needs OPENROUTER_API_KEY
[no-exit-message]
live *args: _dev
    test -n "${OPENROUTER_API_KEY:-}" || { echo "just live: set OPENROUTER_API_KEY; it costs money." >&2; exit 2; }
    SIGNALBOX_LIVE=1 python -m pytest -m live tests/live "$@"

# generate schema, TypeScript types and golden streams from core/events.py
contract *args: _dev
    python scripts/contract.py "$@"

# generate the code tables of docs/sse-contract.md from core/codes.py, and the reference pages from docstrings
docs: _dev
    python -m tests.project.docs.tables
    PYTHONPATH=clients/python python -m tests.project.docs.reference

# measure what the server costs, compared with nginx, its goals and its baseline (--quick, --only, --check, --store-baseline, --bare, --json)
[no-exit-message]
bench *args: _dev
    exec python -m tests.bench "$@"

# measure LiteLLM, the Vercel AI SDK, pydantic-ai and TensorZero on the same work as Signalbox (--only, --rounds, --json)
[no-exit-message]
bench-peers *args: _dev
    exec python -m tests.bench.peers "$@"

# run Signalbox's Runner and three other tool runners on the same cases, and write docs/runner-comparison.md (--only)
[no-exit-message]
compare-runners *args: _dev
    exec python -m tests.comparison "$@"

# measure the CPU time of a run with each of these tool runners, and 1,000 runs in one process (--rounds, --runs, --crowd)
[no-exit-message]
bench-runners *args: _dev
    exec python -m tests.comparison.bench "$@"

# measure how many runs and events per second one PostgreSQL stores (--seconds, --url)
[no-exit-message]
bench-postgres *args: _dev
    exec python -m tests.bench.postgres "$@"

# send hostile input of every shape at two sizes, and check that no other request waits for it (--only, --sizes)
[no-exit-message]
bench-stalls *args: _dev
    exec python -m tests.bench.stalls "$@"

# measure the page in a real browser: long answers, four at once, a chat of 1,000 messages (--quick, --only, --json)
[no-exit-message]
bench-page *args: _dev
    python scripts/page.py build
    python scripts/page.py node e2e/bench/main.ts "$@"

# break 10,000 runs at random and ten streams at every byte, 200 at a time, and check for leaks (--seed, --runs)
[no-exit-message]
storm *args: _dev
    exec python -m tests.scenarios.storm "$@"

# remove ten random rules of the quirks from a copy, and check that a test of each fails (--seed, --count, --all, --only)
[no-exit-message]
mutate *args: _dev
    exec python -m tests.scenarios.quirks.mutations "$@"

# lock the Python packages again (--upgrade takes newer versions of unpinned ones)
lock *args: _dev
    python scripts/lock.py "$@"

[no-exit-message]
_run:
    ./just --prepare run

[no-exit-message]
_dev:
    ./just --prepare dev
