"""Detects by rules what a message asks for: searches, calculations, times, programs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .arithmetic import expressions
from .forms import without_form
from .formulas import PART, formula_in
from .programs import asks_for_program
from .zones import without_places, zones

Kind = Literal["search", "calculate", "time", "code", "chat"]


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that a message asks for."""

    kind: Kind
    subject: str


_MAX_CHARACTERS = 2000
_MAX_INTENTS = 6
ASKING = (
    r"what|how|why|who|whom|whose|when|where|which|search|find|look up|compare|calculate|compute|tell|read|get|check|"
    r"is|are|was|does|do|did|can|could|explain|describe|give|show|list|summari[sz]e|research|use|call|please|also|then|"
    r"the (?:current |local )?(?:time|date)"
)
# Words around a place in a follow-up question: "And in Lima?", "What about Oslo then?"
_FOLLOW_UP = re.compile(r"\b(?:and|or|also|what|how|about|in|at|for|now|then|please|the)\b|\W+", re.IGNORECASE)
_FOR = re.compile(r"^for\b", re.IGNORECASE)
_SPLIT = re.compile(
    rf"(?P<stop>[?!;\n]+|\.(?=\s|$))|(?P<then>,?\s*\b(?:and then|then|after that|afterwards)\b,?)"
    rf"|(?:,\s*(?:and|also)?|\band also\b|\band\b)\s+(?=(?:{ASKING})\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"^(?:{ASKING})\b", re.IGNORECASE)
_SEARCHES = re.compile(
    r"\b(?:search|find|look\s*up|compare|vs|versus|explain|describe|research|summari[sz]e|news|latest|documentation|docs|about)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:what|which)(?:'s|’s| is| are)?\s+(?:the\s+)?(?:current\s+|local\s+|exact\s+)?(?:time|date|day)s?\b"
    r"(?!\s+(?:to|out|limit|does|zone|complexity|of))"
    r"|\b(?:tell me|get|check|give me|show me)\b.*\b(?:time|date)\b|\b(?:current|local)\s+(?:time|date)\b"
    r"|\btime is it\b|\btoday'?s date\b",
    re.IGNORECASE,
)
_TIME_THERE = re.compile(r"\b(?:time|date)\s+(?:in|at)\b", re.IGNORECASE)
_NOT_TIME = re.compile(r"\b(?:how|long|much|each|every|first|last|next|release|birth)\b", re.IGNORECASE)
SMALL_TALK = re.compile(
    r"^\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|thanks?(?: you)?|bye|goodbye|ok(?:ay)?|great|cool|"
    r"nice|yes|no|who are you|what are you|what(?:'s| is) your name|"
    r"are you (?:a |an )?(?:real|simulated|ai|human|bot).*|"
    r"what model.*|which model.*|how are you.*|what can you do.*|help|what did i (?:ask|say).*|test(?:ing)?|ping)"
    r"(?:\s+(?:there|everyone|all|so much|a lot|very much|simulator|signalbox))?\W*$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:first(?:ly)?(?=,?\s+(?:search|find|look|explain|tell|compare)\b)|"
    r"please|can you|could you|would you|will you|i (?:want|would like|need) to know|tell me|show me|give me|"
    r"search(?: the)?(?: web| internet| online| docs| documentation)?(?: for)?|find(?: out)?|look\s*up|google|explain|"
    r"describe|research|summari[sz]e|read(?: up)? on|what(?:'s|’s)?|how(?: much| many| long| often)?|in detail|why|"
    r"who(?:'s)?|when|where|which|also|and|about|for me)\b[\s,:]*",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    [
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "am", "do", "does", "did", "can", "could", "may"),
        *(
            "might",
            "will",
            "would",
            "should",
            "shall",
            "must",
            "of",
            "to",
            "in",
            "on",
            "at",
            "by",
            "for",
            "from",
            "with",
        ),
        *("as", "it", "its", "this", "that", "these", "those", "there", "i", "me", "my", "we", "our"),
        *("you", "your", "and", "or", "but", "so", "if", "please", "any", "some"),
    ]
)
_CREATIVE = re.compile(
    r"\b(?:joke|poem|haiku|story|song|limerick|write|translate|rhyme|draft|rewrite|imagine|roleplay)\b", re.IGNORECASE
)
_REFERS_BACK = re.compile(r"\b(?:it|they|them|that|this|those|these)\b", re.IGNORECASE)
_COMPARE = re.compile(
    r"\bcompare\s+(?P<a>.+?)\s+(?:and|with|to|against|vs\.?|versus)\s+(?P<b>.+)$"
    r"|\bdifferences?\s+between\s+(?P<c>.+?)\s+and\s+(?P<d>.+)$"
    r"|(?P<e>[\w.+# -]+?)\s+(?:vs\.?|versus)\s+(?P<f>[\w.+# -]+)$",
    re.IGNORECASE,
)
# The aspect of a comparison: "compare a and b for a trip".
_RESPECT = re.compile(r"(?<=\w)\s+(?:for|when|in terms of|with respect to|regarding)\b.*$", re.IGNORECASE)
DEEP = re.compile(
    r"\b(?:in detail|in depth|detailed|thorough(?:ly)?|deep(?:ly)?|research|everything|step by step|investigate)\b",
    re.IGNORECASE,
)


def asked_for(question: str, before: Sequence[str] = ()) -> list[list[Intent]]:
    """Return the stages of a message; only places after a question for the time ask for their time."""
    if not _only_places(question):
        return stages(question)
    first = next((earlier for earlier in reversed(before) if not _only_places(earlier)), "")
    if any(intent.kind == "time" for stage in stages(first) for intent in stage):
        return [[Intent("time", zone) for zone in zones(question)][:_MAX_INTENTS]]
    return stages(question)


def _only_places(question: str) -> bool:
    return len(question) < 200 and bool(zones(question)) and not _FOLLOW_UP.sub("", without_places(question))


def stages(question: str) -> list[list[Intent]]:
    """Return the stages of a message; "then" starts a new stage, which waits for the one before."""
    if len(question) > 2 * _MAX_CHARACTERS:
        # In a long message, the question is at the beginning or at the end.
        question = f"{question[:_MAX_CHARACTERS]}\n{question[-_MAX_CHARACTERS:]}"
    formula = formula_in(question)
    found: list[list[Intent]] = [[Intent("calculate", formula.expression)] if formula else []]
    for clause, waits in clauses(without_form(question)):
        if formula and PART.search(clause):
            continue
        if waits and _FOR.match(clause) and found[-1] and found[-1][-1].kind == "search":
            clause = f"search {clause}"  # noqa: PLW2901 - "search for a, then for b"
        intents = clause_intents(clause)
        if _refers_back(clause, intents) and any(found[-1]):
            continue
        if waits and found[-1] and intents:
            found.append([])
        found[-1].extend(intent for intent in intents if intent not in found[-1])
    asked = [[intent for intent in stage if intent.kind != "chat"] for stage in found]
    return [stage[:_MAX_INTENTS] for stage in asked if stage][:_MAX_INTENTS]


def _refers_back(clause: str, intents: list[Intent]) -> bool:
    """Return whether a clause only refers to what was named before ("why is it used")."""
    searches = [intent for intent in intents if intent.kind == "search"]
    return bool(searches) and bool(_REFERS_BACK.search(clause)) and len(searches[0].subject.split()) < 2


def clauses(question: str) -> list[tuple[str, bool]]:
    """Split a message into clauses, each with whether it waits for the ones before it."""
    found: list[tuple[str, bool]] = []
    at, waits = 0, False
    for match in _SPLIT.finditer(question):
        end = match.end() if match.group("stop") else match.start()
        found.append((question[at:end].strip(), waits))
        at, waits = match.end(), match.group("then") is not None or (waits and not question[at:end].strip())
    found.append((question[at:].strip(), waits))
    return [(clause, waits) for clause, waits in found if clause.strip(" ,.?!")]


def clause_intents(clause: str) -> list[Intent]:
    """Return what one clause asks for."""
    if asks_for_program(clause):
        return [Intent("code", clause)]
    if SMALL_TALK.match(clause) or _CREATIVE.search(clause):
        return [Intent("chat", clause)]
    sums = expressions(clause)
    if sums:
        return [Intent("calculate", expression) for expression in sums]
    named = zones(clause)
    if (_TIME.search(clause) or (named and _TIME_THERE.search(clause))) and not _NOT_TIME.search(clause):
        return [Intent("time", zone) for zone in named or [""]]
    if _ASKS.match(clause) or clause.endswith("?") or _SEARCHES.search(clause):
        return [Intent("search", query) for query in queries(clause)]
    return [Intent("chat", clause)]


def queries(clause: str) -> list[str]:
    """Return the search queries of a clause: one, or one for each side of a comparison."""
    match = _COMPARE.search(clause.rstrip(" ?.!"))
    if match:
        sides = [side for side in match.groups() if side]
        respect = _RESPECT.search(sides[-1])
        sides[-1] = sides[-1][: respect.start()] if respect else sides[-1]
        return [query for side in sides if (query := keywords(side + (respect[0] if respect else "")))]
    query = keywords(clause)
    return [query] if query else []


def keywords(clause: str) -> str:
    """Return a clause without filler words."""
    text = clause.strip(" \t\n?.!,:;")
    while (shorter := _LEAD.sub("", text, count=1)) != text:
        text = shorter
    words = [word.strip("?!.,:;()") for word in text.split()]
    kept = [word for word in words if word and word.lower() not in _STOP_WORDS]
    kept = re.sub(r"^(?:in )?(?:detail|depth)\b\s*|\s*\b(?:detail|depth|thoroughly)$", "", " ".join(kept)).split()
    return " ".join(kept or words)
