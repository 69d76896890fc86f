"""Mutations of section D, the end of a run."""

from tests.scenarios.quirks.mutations.mutation import Mutation

D = (
    Mutation(
        "D1",
        "a call without a result is answered",
        "chat/history/tool_pairing.py",
        "found = ToolMessage(call_id=call.id, name=call.name, content=NO_RESULT, untrusted=False)",
        "continue",
    ),
    Mutation(
        "D1",
        "a result of no call is refused",
        "intakes/v1.py",
        "    name = open_calls.get(message.tool_call_id)\n",
        '    name = open_calls.get(message.tool_call_id, "")\n',
    ),
    Mutation(
        "D2",
        "the model is told that tools are off",
        "chat/loops/finalize.py",
        'FINAL_WORDS if context.tool_schemas else "",',
        '"",',
    ),
    Mutation(
        "D2",
        "a silent finalize is asked once more",
        "chat/loops/state.py",
        "if self.empty_finals == 1 and self.context.offered:",
        "if False:",
    ),
    Mutation(
        "D2",
        "silence without tools is an error",
        "chat/loops/state.py",
        "        if not self.execution.calls:\n            raise UpstreamError(Code.EMPTY_ANSWER)\n",
        "",
    ),
    Mutation(
        "D3",
        "calls that are not allowed are dropped",
        "chat/loops/stepper.py",
        "return reply.may_call and bool(reply.completion.calls)",
        "return bool(reply.completion.calls)",
    ),
    Mutation(
        "D4",
        "other words make the same search",
        "tools/search_web.py",
        '[" ".join(sorted(_unquoted(" ".join(text.split())).split())), *filters]',
        "[query, *filters]",
    ),
    Mutation(
        "D4",
        "there is a limit of searches",
        "chat/calls/execution.py",
        "if self._sent >= self.context.limits.max_searches:",
        "if False:",
    ),
    Mutation(
        "D4",
        "a search that was known brings nothing new",
        "chat/loops/state.py",
        "self.unproductive_steps = 0 if any(call.is_new for call in calls) else self.unproductive_steps + 1",
        "self.unproductive_steps = 0",
    ),
    Mutation(
        "D4",
        "the second answer points to another aspect",
        "chat/calls/running_call.py",
        "if self.cached and isinstance(outcome.result, dict):",
        "if False:",
    ),
    Mutation(
        "D5",
        "the finalize is one of the steps",
        "chat/loops/state.py",
        "is_last = self.progress.steps >= self._last_step",
        "is_last = self.progress.steps > self._last_step",
    ),
    Mutation(
        "D6",
        "what is said beside calls is kept",
        "chat/loops/state.py",
        "self._assistant_message(completion, [call for call, _ in pairs])",
        'structs.replace(self._assistant_message(completion, [call for call, _ in pairs]), content="")',
    ),
    Mutation(
        "D7",
        "finalize says that the results are current",
        "chat/loops/finalize.py",
        "The tool results above are current: rely on them. ",
        "",
    ),
)
