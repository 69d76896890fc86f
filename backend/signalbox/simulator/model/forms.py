"""Detects if a question asks for a table or a list, and removes those words from it."""

import re

_TABLE = re.compile(r"\btables?\b(?! tennis| of contents)|\bside by side\b", re.IGNORECASE)
_LIST = re.compile(
    r"\b(?:tips|ideas|steps|checklist|itinerary|bullet points?)\b|\b(?:as|in) an? (?:\w+ )?list\b"
    r"|\b(?:make|give|write|want)\b.{0,20}\blist\b",
    re.IGNORECASE,
)
_SOME = r"(?:some |a few |the |good |useful |best |simple |short |quick |small |comparison |numbered |comparative )*"
_THING = rf"(?:an? )?{_SOME}(?:tips|ideas|steps|checklist|list|table)"
# "…, in a table", "and put it into a list please"
_AS_FORM = (
    r",?\s*\b(?:and )?(?:please )?(?:(?:put|show|write|list) (?:it|them|this|that|me) )?(?:in|as|with|into) (?:an? )?"
    rf"{_SOME}(?:tables?|lists?|steps|bullet points?|checklist)\b(?! of)(?:,? please)?"
)
# "make a table of …", "what are good tips against …"
_FORM_OF = rf"\b(?:(?:make|give|write|draw|show|list)(?: me)? )?{_THING} (?:of|for|against|on|about|to|that)\b"
_FORM = re.compile(rf"{_AS_FORM}|{_FORM_OF}|,?\s*\bside by side\b", re.IGNORECASE)
# After a word of the same clause, the form is removed; at the start, it becomes "about": "Tips against jet lag".
_BEFORE = re.compile(r"\w\s*$")


def wants_table(question: str) -> bool:
    """Return whether the answer should be a table."""
    return bool(_TABLE.search(question))


def wants_list(question: str) -> bool:
    """Return whether the answer should be a numbered list."""
    return bool(_LIST.search(question))


def without_form(question: str) -> str:
    """Remove the words about the form of the answer, which must not be searched for."""
    if not wants_table(question) and not wants_list(question):
        return question
    plain = _FORM.sub(lambda found: " " if _BEFORE.search(question[: found.start()]) else " about ", question)
    return re.sub(r"\b(?:about\s+)?comparing\b", "compare", plain, flags=re.IGNORECASE).strip()
