"""Finds arithmetic in a sentence and writes it as expressions for a calculator tool."""

import re

_WORDS = (
    (r"[×✕]", "*"),
    (r"÷", "/"),
    (r"[−–]", "-"),
    (r"\^", "**"),
    (r"\bsquare root of\s+(\d[\d.]*)", r"sqrt(\1)"),
    (r"(\d[\d.]*)\s*(?:%|per\s?cent)\s+of\s+(\d[\d.,]*)", r"\1 / 100 * \2"),
    (r"(\d)\s+(?:to the power of|raised to)\s+(\d)", r"\1 ** \2"),
    (r"(\d)\s+squared\b", r"\1 ** 2"),
    (r"(\d)\s+cubed\b", r"\1 ** 3"),
    (r"(\d)\s+(?:multiplied by|times)\s+(\d)", r"\1 * \2"),
    (r"(\d)\s+(?:divided by|over)\s+(\d)", r"\1 / \2"),
    (r"(\d)\s+plus\s+(\d)", r"\1 + \2"),
    (r"(\d)\s+minus\s+(\d)", r"\1 - \2"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
_FUNCTION = r"(?:sqrt|sin|cos|tan|log10|log2|log|ln|exp|abs|round|floor|ceil|factorial|min|max)\s*\("
_SUM = re.compile(rf"(?:{_FUNCTION}|[-(]|\d)(?:{_FUNCTION}|[\d\s.+\-*/%(),]|\bpi\b|\be\b)*[\d)]", re.IGNORECASE)
_OPERATOR = re.compile(
    r"\d\s*(?:\*\*|[*/+%]|//)\s*[\d(]|\)\s*[*/+\-%]|[*/+\-]\s*\(|\d\s+-\s+\d|\d-\d|[a-z]\(", re.IGNORECASE
)
_SAFE = re.compile(r"[*+(%]|\s[-/]\s")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d{4}-\d{4}|\b24/7\b")
_ASKED = re.compile(r"\b(?:calculate|compute|how much is|what(?:'s|’s| is)|evaluate|work out)\b|=", re.IGNORECASE)


def expressions(clause: str) -> list[str]:
    """Return the arithmetic expressions of a clause, in order."""
    text = clause
    for pattern, replacement in _WORDS:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    found = [match.group().strip(" ,.") for match in _SUM.finditer(text)]
    return [sum_ for sum_ in found if _is_sum(sum_, text)]


def _is_sum(sum_: str, clause: str) -> bool:
    if not _OPERATOR.search(sum_) or _DATE.search(sum_) or sum_.count("(") != sum_.count(")"):
        return False
    return bool(_SAFE.search(sum_) or _ASKED.search(clause) or sum_ == clause.strip(" ?=.!"))
