"""Calculations that a question describes in words: a loan, savings, growth, a shared bill."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_NUMBER = r"(?:[$€£]\s?)?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|thousand|million)\b)?"
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|per\s?cent)", re.IGNORECASE)
_TERM = re.compile(r"(\d+(?:\.\d+)?)[\s-]*(years?|months?)\b", re.IGNORECASE)
_COUNT = r"\d+|two|three|four|five|six|seven|eight"
_PEOPLE = re.compile(
    rf"\b(?:between|among|by)\s+(?:the\s+)?({_COUNT})\b(?![.,]?\d)"
    rf"|(?<![\d.,])({_COUNT})\s+(?:people|friends|persons|guests|of us|ways)\b",
    re.IGNORECASE,
)
_COUNTED = {word: at for at, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight"], 2)}
_AMOUNT = re.compile(_NUMBER, re.IGNORECASE)
_SCALE = {"k": 1_000, "thousand": 1_000, "million": 1_000_000}
_TOPIC = re.compile(
    r"\b(?:loans?|mortgages?|borrow|lend|repay|save|saving|savings|put aside|invest(?:ed|ing|ment)?|interest|deposit|"
    r"grow|grows|bill|split|tip|payments?|instal?lments?)\b",
    re.IGNORECASE,
)


# Clauses that belong to such a calculation: "…, what do I pay a month?"
PART = re.compile(
    rf"{_TOPIC.pattern}|\d|\b(?:pay|cost|costs|owe|get|have|much|month|monthly|year|yearly|each|everyone|total)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Formula:
    """A calculation: name, formula in LaTeX, values, and the expression for the calculator."""

    name: str
    latex: str
    values: tuple[tuple[str, str, str], ...]
    """Symbol, meaning, value."""
    expression: str
    currency: str
    unit: str
    """The words after the result: "a month", "each"."""


def formula_in(question: str) -> Formula | None:
    """Return the calculation that a question describes; None if there is none or a number is missing."""
    if not _TOPIC.search(question) or len(question) > 1_000:
        return None
    return next((found for parse in _PARSERS if (found := parse(question))), None)


def _loan(question: str) -> Formula | None:
    if not re.search(r"\b(?:loans?|mortgages?|borrow|lend|repay)\b", question, re.IGNORECASE):
        return None
    return _monthly(
        question,
        "The monthly payment on a loan",
        r"M = P \cdot \frac{r\,(1 + r)^n}{(1 + r)^n - 1}",
        symbols=(("P", "the loan"), ("n", "the number of payments")),
        expression="{amount} * ({rate}) * (1 + {rate})^{months} / ((1 + {rate})^{months} - 1)",
        unit="a month",
    )


def _saving(question: str) -> Formula | None:
    if not re.search(r"\b(?:save|saving|put aside|deposit|invest)\b", question, re.IGNORECASE) or not re.search(
        r"\b(?:a|per|each|every) month\b|\bmonthly\b", question, re.IGNORECASE
    ):
        return None
    return _monthly(
        question,
        "The value of monthly savings",
        r"V = S \cdot \frac{(1 + r)^n - 1}{r}",
        symbols=(("S", "the amount saved each month"), ("n", "the number of months")),
        expression="{amount} * ((1 + {rate})^{months} - 1) / ({rate})",
        unit="at the end",
    )


def _monthly(
    question: str,
    name: str,
    latex: str,
    *,
    symbols: tuple[tuple[str, str], tuple[str, str]],
    expression: str,
    unit: str,
) -> Formula | None:
    """Return a calculation with monthly interest; `symbols` are those of the amount and of the months."""
    amount, rate, months = _amount(question), _rate(question), _months(question)
    if amount is None or not rate or not months:
        return None
    of_amount, of_months = symbols
    return Formula(
        name,
        latex,
        (
            (*of_amount, _money(amount, question)),
            ("r", "the interest per month", f"{rate}% / 12"),
            (*of_months, str(months)),
        ),
        expression.format(amount=amount, rate=f"{rate} / 100 / 12", months=months),
        _currency(question),
        unit,
    )


def _growth(question: str) -> Formula | None:
    if not re.search(r"\b(?:invest(?:ed|ing|ment)?|interest|savings?|deposit|grows?)\b", question, re.IGNORECASE):
        return None
    amount, rate, months = _amount(question), _rate(question), _months(question)
    if amount is None or not rate or not months:
        return None
    years = f"{months // 12}" if months % 12 == 0 else f"({months} / 12)"
    return Formula(
        "The value with compound interest",
        r"V = P \cdot (1 + i)^t",
        (
            ("P", "the amount at the start", _money(amount, question)),
            ("i", "the interest per year", f"{rate}%"),
            ("t", "the number of years", years.strip("()")),
        ),
        f"{amount} * (1 + {rate} / 100)^{years}",
        _currency(question),
        "at the end",
    )


def _shared_bill(question: str) -> Formula | None:
    if not re.search(r"\b(?:split|share|bill)\b", question, re.IGNORECASE):
        return None
    amount, people = _amount(question), _PEOPLE.search(question)
    if amount is None or people is None:
        return None
    named = (people[1] or people[2]).lower()
    count = _COUNTED.get(named) or int(named)
    if count < 1:
        return None
    tip = _rate(question) or "0"
    return Formula(
        "Each person's share of the bill",
        r"x = \frac{B \cdot (1 + t)}{n}",
        (
            ("B", "the bill", _money(amount, question)),
            ("t", "the tip", f"{tip}%"),
            ("n", "the number of people", str(count)),
        ),
        f"{amount} * (1 + {tip} / 100) / {count}",
        _currency(question),
        "each",
    )


_PARSERS: tuple[Callable[[str], Formula | None], ...] = (_loan, _shared_bill, _saving, _growth)


def shown_result(formula: Formula, result: str) -> str:
    """Return the calculator's result with currency and two decimals; unchanged if it is not a number."""
    try:
        return f"{formula.currency}{Decimal(result):,.2f}"
    except InvalidOperation:
        return result


def _rate(question: str) -> str | None:
    found = _RATE.search(question)
    return found[1] if found and float(found[1]) > 0 else None


def _months(question: str) -> int | None:
    found = _TERM.search(question)
    if not found:
        return None
    months = float(found[1]) * (12 if found[2].lower().startswith("year") else 1)
    return round(months) if 1 <= months <= 1_200 else None


def _amount(question: str) -> str | None:
    """Return the first amount of money: a number that is neither a rate, nor a term, nor a count of people."""
    rest = _PEOPLE.sub(" ", _TERM.sub(" ", _RATE.sub(" ", question)))
    with_sign = re.search(rf"[$€£]\s?{_NUMBER}", rest, re.IGNORECASE)
    found = with_sign or _AMOUNT.search(rest)
    if not found:
        return None
    text = re.sub(r"[$€£,\s]", "", found[0].lower())
    digits = text.rstrip("".join(_SCALE))
    return f"{Decimal(digits) * _SCALE.get(text.removeprefix(digits), 1):f}"


def _currency(question: str) -> str:
    found = re.search(r"[$€£]", question)
    return found[0] if found else ""


def _money(amount: str, question: str) -> str:
    return f"{_currency(question)}{Decimal(amount):,}"
