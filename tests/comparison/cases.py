"""The cases: what the model replies, what the program does, and how the outcome is described."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.comparison.observation import Observation
from tests.comparison.stories import TOKENS_IN, TOKENS_OUT, Call, Reply, answers, call, calls

# A model that calls tools for ever answers after this many replies, so that every run ends.
PATIENCE = 60
Describe = Callable[[Observation], str]


@dataclass(frozen=True)
class Case:
    """One case. `rows` are numbers of known faults of tool runners; tests in tests/scenarios/runner have them in names.

    `is_cut`: no call of the story may run.
    `may_lose`: a result may be missing, because the program leaves the run or replaces the conversation.
    """

    key: str
    title: str
    rows: str
    action: str
    story: Sequence[Reply]
    describe: Describe
    is_cut: bool = False
    may_lose: bool = False


def _look(path: str) -> Call:
    return call("look", path=path)


def _waits(number: int) -> Reply:
    return calls(*(call("wait", number=place) for place in range(number)))


def _ending(seen: Observation) -> str:
    if seen.error:
        return f"raises `{seen.error}`"
    return "returns no text" if seen.value in ("", "None", None) else "returns an answer"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _work(seen: Observation) -> str:
    words = [_count(len(seen.requests), "request"), _count(len(seen.executions), "execution")]
    if seen.repeated:
        words.append(f"{seen.repeated} of them repeated")
    if seen.lost:
        words.append(_count(seen.lost, "result") + " lost")
    return ", ".join(words)


def _work_and_ending(seen: Observation) -> str:
    return f"{_work(seen)}; {_ending(seen)}"


def _with_limits(seen: Observation) -> str:
    limits = [request.get("max_tokens", request.get("max_completion_tokens")) for request in seen.requests]
    return f"{_work(seen)}; `max_tokens` {', '.join(map(str, limits))}"


def _with_roles(number: int) -> Describe:
    def describe(seen: Observation) -> str:
        if len(seen.requests) < number:
            return f"{_work_and_ending(seen)}; request {number} is not sent"
        return f"{_work(seen)}; request {number}: {', '.join(seen.roles(number))}"

    return describe


def _overlap(seen: Observation) -> str:
    return f"{seen.at_once} at once"


def _executed(seen: Observation) -> str:
    ran = "the call is executed" if seen.executions else "the call is not executed"
    told = "; the model is told why" if len(seen.requests) > 1 and not seen.executions else ""
    return f"{ran}{told}; {_ending(seen)}"


def _leak(seen: Observation) -> str:
    if len(seen.requests) < 2:
        return f"the model gets no error; {_ending(seen)}"
    leaks = "/srv/keys" in seen.results(2)
    read = "the exception" if leaks else "that the call failed, but not the exception"
    return f"the model reads {read}; {_ending(seen)}"


def _argument(seen: Observation) -> str:
    if len(seen.requests) < 2:
        return f"the model gets no error; {_ending(seen)}"
    names = "count" in seen.results(2)
    return f"the model is told {'which argument is wrong' if names else 'that an argument is wrong, but not which one'}"


def _unknown(seen: Observation) -> str:
    if len(seen.requests) < 2:
        return f"the model gets no error; {_ending(seen)}"
    names = "look" in seen.results(2).replace("look_up", "")
    return f"the model gets an error{' that lists all tools' if names else ''}"


def _limit(seen: Observation) -> str:
    if len(seen.requests) >= PATIENCE:
        return f"no limit; the model stops after {PATIENCE} requests"
    return f"{_work_and_ending(seen)}"


def _socket(seen: Observation) -> str:
    if seen.value is None:
        return f"raises `{seen.error}`"
    late = [at - seen.value for at in seen.left_at]
    ended = seen.seen["ended"] - seen.value
    if not late or late[0] > ended - 0.05:
        return "the connection stays open"
    return "the connection is closed"


def _stopped(seen: Observation) -> str:
    if seen.value is None:
        return f"raises `{seen.error}`"
    one = seen.executions[0]
    if one.cancelled is None or one.cancelled > seen.value + 0.5:
        return "the tool continues to run"
    return "the tool is cancelled"


def _second(seen: Observation) -> str:
    if seen.error:
        return f"raises `{seen.error}`"
    return "yields nothing and raises no error" if not seen.value else f"yields {seen.value} items"


def _usage(seen: Observation) -> str:
    value = seen.value or {}
    known = value.get("tokens") == TOKENS_IN + TOKENS_OUT
    cost = value.get("cost")
    return f"tokens {'known' if known else 'not known'}, cost {'known' if cost else 'not known'}"


_FOREVER = (*(calls(_look(f"/{number}")) for number in range(PATIENCE - 1)), answers())
_CUT = '{"path": "/et'

CASES = (
    Case("one-call", "The model makes one call, then answers", "TR-02", "finish",
         (calls(_look("/a")), answers()), _work_and_ending),
    Case("set", "Change `max_tokens` after each reply", "TR-03", "change parameters",
         (calls(_look("/a")), calls(_look("/b")), answers()), _with_limits),
    Case("append", "Add a user message while a call is open", "TR-04", "append",
         (calls(_look("/a")), answers()), _with_roles(2)),
    Case("results", "Get the results first, then add a user message", "TR-05", "results and append",
         (calls(_look("/a")), answers()), _with_roles(2)),
    Case("replace", "Replace the conversation while a call is open", "TR-03, TR-04", "replace",
         (calls(_look("/a")), answers()), _with_roles(2), may_lose=True),
    Case("follow-up", "Add a user message after the final answer", "TR-07", "follow up",
         (answers("Four."), answers("IV.")), _with_roles(2)),
    Case("overlap", "3 calls in one reply", "TR-09", "finish", (_waits(3), answers()), _overlap),
    Case("cap", "20 calls in one reply", "TR-09", "finish", (_waits(20), answers()), _overlap),
    Case("exception", "A tool raises an exception that contains a secret path", "TR-10", "finish",
         (calls(call("buy", count=1)), answers()), _leak),
    Case("argument", "A call has a wrong argument", "TR-10", "finish",
         (calls(call("buy", count="many")), answers()), _argument),
    Case("unknown", "A call names an unknown tool", "TR-10", "finish", (calls(call("look_up", path="/a")), answers()),
         _unknown),
    Case("limit", "The limit is 2 requests, and the model always calls a tool", "TR-11", "finish in two", _FOREVER,
         _work_and_ending),
    Case("no-limit", "No limit is set, and the model always calls a tool", "TR-11", "finish", _FOREVER, _limit),
    Case("refusal", "A refusal that contains a call", "TR-12", "finish",
         (calls(_look("/a"), end="refusal"), answers()), _executed, is_cut=True),
    Case("length", "The token limit ends the reply within a call", "TR-13", "finish",
         (calls(Call("look", _CUT), end="length"), answers()), _executed, is_cut=True),
    Case("length-whole", "The token limit ends the reply after a call's arguments", "TR-13", "finish",
         (calls(_look("/a"), end="length"), answers()), _executed, is_cut=True),
    Case("cut", "The connection breaks after a call", "TR-13", "finish",
         (calls(_look("/a"), end="cut"), answers()), _work_and_ending, is_cut=True),
    Case("eof", "The stream ends after a call, but contains no stop reason", "TR-13", "finish",
         (calls(_look("/a"), end="eof"), answers()), _work_and_ending, is_cut=True),
    Case("busy", "The first response is a 503", "TR-02", "finish", (Reply(status=503), calls(_look("/a")), answers()),
         _work_and_ending),
    Case("leave", "`break` while the model writes", "TR-15", "leave", (Reply("So far", end="hold"),), _socket),
    Case("close", "Leave the loop in the documented way while the model writes", "TR-15", "leave and close",
         (Reply("So far", end="hold"),), _socket),
    Case("stop", "Stop the run in the documented way while a tool runs", "TR-15", "stop",
         (calls(call("work", number=1)), answers()), _stopped, may_lose=True),
    Case("twice", "Iterate over the run a second time", "TR-01", "iterate twice", (answers(),), _second),
    Case("failure", "Read the tokens and cost of request 1 after request 2 has failed", "—", "fail",
         (calls(_look("/a")), Reply(status=400)), _usage, may_lose=True),
)  # fmt: skip
