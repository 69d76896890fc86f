"""Plans stored runs once more, with tools that return their recorded results."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace
from pydantic import ValidationError

from signalbox.app.config import Settings
from signalbox.app.tool_setup import Toolbox
from signalbox.chat.plan import ServerTerms, plan_of, with_trusted_results
from signalbox.conversations.restored_turns import restored
from signalbox.core.ask import Ask
from signalbox.core.messages import JsonObject, Message
from signalbox.core.records import V1
from signalbox.core.tools import Tool
from signalbox.intakes.intake import Body, Tools
from signalbox.intakes.v1 import ask_of
from signalbox.intakes.v1_question import as_v1_request, choice_in, client_tools_in, extra_params_in
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.replay.case import Case
from signalbox.replay.journals import Journal, NoJournal
from signalbox.replay.recorded_tools import RecordedTools, placeholder_tools
from signalbox.services.catalog import Catalog
from signalbox.services.tool_executor import ToolExecutor


@dataclass(frozen=True, slots=True)
class Cases:
    """Plans runs again, with the settings, the catalogue and the tools of an installation."""

    settings: Settings
    catalog: Catalog
    toolbox: Toolbox

    async def case(self, journal: Journal, model: str, max_cost: float | None = None) -> Case:
        """Plan a journal's run once more, with everything that it was given; raises NoJournal, RequestError.

        `max_cost` (USD) limits the cost further than the settings.
        """
        body = _body_of(journal)
        await self.catalog.check(model)
        tools = self.tools_of(journal, body)
        ask = replace(ask_of(body, Tools({tool.spec.name: tool for tool in tools}), {}), model=model)
        if client_tools := client_tools_in(journal.question):
            ask = replace(ask, client_tools=client_tools, choice=choice_in(journal.question))
        if extra := extra_params_in(journal.question):
            ask = replace(ask, params=replace(ask.params, extra=extra))
        limits = [one for one in (self.settings.signalbox_max_run_cost, max_cost) if one is not None]
        messages, open_loop = self._messages_of(journal, ask, tools)
        plan = plan_of(
            ask,
            messages,
            self.catalog.entry(model),
            ServerTerms(min(limits, default=None), self.toolbox.search_is_paid),
            session_id=journal.conversation_id or body.model.conversation_id,
            open_loop=open_loop,
        )
        return Case(f"{journal.run_id} {model}", plan, is_simulated=self.settings.is_simulated)

    def _messages_of(self, journal: Journal, ask: Ask, tools: Sequence[Tool]) -> tuple[Sequence[Message], int]:
        """Return what the model received, and how many messages of it belong to the tool loop that it continued."""
        if journal.messages:
            return journal.messages, journal.open_loop
        if journal.protocol == V1:
            return with_trusted_results(ask.conversation, tools), 0
        ours = {tool.spec.name for tool in self.toolbox.tools} - {tool.name for tool in ask.client_tools}
        found = restored(ask.conversation, journal.stored, ours)
        return found.messages, found.open_loop

    def tools_of(self, journal: Journal, body: Body[ChatRequest]) -> list[Tool]:
        """Return the tools of then: those asked for, else those that its requests offered."""
        if body.model.tools is not None:
            return placeholder_tools(body.model.tools, self.toolbox.tools)
        here = [tool.spec.name for tool in self.toolbox.tools if tool.unavailable is None]
        return placeholder_tools(journal.offered or here, self.toolbox.tools)

    def missing(self, journal: Journal) -> list[str]:
        """Name the tools of a run that are not installed here."""
        here = {tool.spec.name for tool in self.toolbox.tools}
        names = (tool.spec.name for tool in self.tools_of(journal, _body_of(journal)))
        return [name for name in names if name not in here]

    def recorded(self, journal: Journal) -> RecordedTools:
        """Return tools that answer from a journal."""
        tools = self.tools_of(journal, _body_of(journal))
        return RecordedTools(journal.calls, ToolExecutor(tools))


def _body_of(journal: Journal) -> Body[ChatRequest]:
    """Read the question of then; of a run in a conversation the words stand in the conversation."""
    question: JsonObject = dict(as_v1_request(journal.question))
    if journal.messages is not None and "messages" not in question:
        question["prompt"] = "…"
    try:
        return Body(ChatRequest.model_validate(question), question)
    except ValidationError as error:
        at = ".".join(map(str, error.errors()[0]["loc"])) or "the question"
        raise NoJournal(f"The question of {journal.run_id} cannot be asked again: {at} is not valid.") from None
