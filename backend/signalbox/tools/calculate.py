"""The calculator: exact if the numbers allow it, and limited before it computes.

It does not use `ast` or simpleeval, for three reasons. Models write arithmetic, not Python (`15% of 80`, `2^10`,
`1,234 × 3`). Decimals must be fractions, so that 0.1 + 0.2 is 0.3. The limits need the size of the operands before
each operation, so that no expression takes long.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.tools.arithmetic import FUNCTIONS, NAMES, Arithmetic, Number

LONGEST, DEEPEST = 1_000, 60

SPEC = ToolSpec(
    name="calculate",
    title="Calculator",
    summary="Calculates exactly, so the model does not have to guess.",
    description=(
        "Compute an arithmetic expression exactly. Operators: + - * / // % ** (or ^), !, parentheses, `15% of 80`. "
        f"Functions: {', '.join(FUNCTIONS)}. Constants: {', '.join(NAMES)}. Angles are in radians."
    ),
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "For example (2 + 3) * 4 or sqrt(2) / 2."}},
        "required": ["expression"],
    },
    category="utility",
    visibility="hidden",
    eager=True,
    timeout=5.0,
    untrusted=False,
)


def calculate() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> JsonValue:
    expression = str(arguments["expression"]).strip()
    return _shown(expression, evaluate(expression))


def evaluate(expression: str) -> Number:
    """Return the value; raises ToolError, with a message, for anything but a finite real number."""
    if len(expression) > LONGEST:
        raise _wrong(f"must not be longer than {LONGEST:,} characters")
    try:
        return _Parser(expression).whole()
    except ZeroDivisionError:
        raise _failed("division by zero") from None
    except OverflowError:
        raise _failed("a number in it is too large") from None
    except ValueError:
        raise _failed("a function is not defined for that number (among the real numbers)") from None


def _wrong(why: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"expression: {why}")


def _failed(why: str) -> ToolError:
    return ToolError(Code.TOOL_FAILED, f"This cannot be computed: {why}.")


# --- result ---

# Larger integers lose digits in JSON parsers that use doubles (browsers).
_EXACT_IN_JSON = 2**53


def _shown(expression: str, value: Number) -> JsonObject:
    """Return the result as JSON; a large integer also as `text`, and beyond 64 bits `result` is a string."""
    number = _plain(value)
    if isinstance(number, float) or abs(number) <= _EXACT_IN_JSON:
        return {"expression": expression, "result": number}
    digits = str(number)
    return {"expression": expression, "result": number if abs(number) < 2**63 else digits, "text": digits}


def _plain(value: Number) -> int | float:
    if isinstance(value, int):
        return value
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return value.numerator
        value = _as_float(value)
    else:
        value = _tidy(value)
    return int(value) if value.is_integer() and abs(value) <= _EXACT_IN_JSON else value


def _as_float(value: Fraction) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = 0.0
    if number == 0:
        raise _failed("the result is too large or too small to be written as a decimal")
    return number


def _tidy(value: float) -> float:
    """Drop trailing digits that are only rounding noise (0.30000000000000004)."""
    shorter = float(f"{value:.15g}")
    return shorter if len(repr(shorter)) < len(repr(value)) - 3 else value


# --- parser ---

_SPELLINGS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "—": "-", "^": "**", "π": "pi",
     "τ": "tau", "²": "**2", "³": "**3", "\u00a0": " ", "\u202f": " ", "\u2009": " "}
)  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<grouped>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,_])(?:\.[0-9]+)?)"
    r"|(?P<number>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|//|[-+*/%!(),\[\]]))"
)
# Inside a call a comma separates arguments: gcd(12,180) has two.
_TOKEN_IN_CALL = re.compile(_TOKEN.pattern.replace("(?P<grouped>", "(?P<grouped>(?!)"))

_Infix: TypeAlias = Callable[[Arithmetic, Number, Number], Number]
# operator → (precedence, function); ** binds tighter than a unary sign before it, and is right-associative.
_INFIX: dict[str, tuple[int, _Infix]] = {
    "+": (10, Arithmetic.add),
    "-": (10, Arithmetic.subtract),
    "*": (20, Arithmetic.multiply),
    "/": (20, Arithmetic.divide),
    "//": (20, Arithmetic.floor_divide),
    "%": (20, Arithmetic.modulo),
    "of": (20, Arithmetic.multiply),
    "**": (40, Arithmetic.power),
}
_PREFIX_BINDS, _POSTFIX_BINDS = 30, 50


class _Parser:
    """Parses and computes in one pass (precedence climbing), with a limited depth."""

    def __init__(self, expression: str) -> None:
        self._text = expression.translate(_SPELLINGS).rstrip().removesuffix("=").rstrip()
        self._at = 0
        self._calls = 0
        self._depth = 0
        self._kind, self._word = "", ""
        self._after_percent = False
        self._do = Arithmetic()
        self._next()

    def whole(self) -> Number:
        value = self._expression(0)
        if self._kind != "end":
            raise self._unexpected()
        return value

    def _next(self) -> None:
        match = (_TOKEN_IN_CALL if self._calls else _TOKEN).match(self._text, self._at)
        if match:
            self._kind, self._word, self._at = match.lastgroup or "", match[match.lastgroup or 0], match.end()
        elif self._text[self._at :].strip():
            raise self._unexpected_text(self._text[self._at :].strip())
        else:
            self._kind, self._word = "end", ""

    def _unexpected(self) -> ToolError:
        return _wrong("it ends too early") if self._kind == "end" else self._unexpected_text(self._word)

    def _unexpected_text(self, text: str) -> ToolError:
        shown = text[:20].encode(errors="replace").decode()
        return _wrong(f'"{shown}" is not expected there (write * for every multiplication, . for decimals)')

    def _expression(self, binds: int) -> Number:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _wrong("it is nested too deeply")
        left = self._postfixed(self._operand())
        while (infix := _INFIX.get(self._word)) and infix[0] > binds:
            left = self._infixed(left, self._word, *infix)
        self._depth -= 1
        return left

    def _infixed(self, left: Number, sign: str, binds: int, compute: _Infix) -> Number:
        self._next()
        self._after_percent = False
        right = self._expression(_PREFIX_BINDS - 1 if sign == "**" else binds)
        if sign in "+-" and self._after_percent:
            raise _wrong("adding a percentage can mean two things; write 200 * 1.10 or 200 + 0.10")
        return self._postfixed(compute(self._do, left, right))

    def _postfixed(self, value: Number) -> Number:
        while True:
            if self._word == "!":
                value = self._do.call("factorial", [value])
            elif self._word == "%" and self._is_percent():
                value = self._do.divide(value, 100)
                self._after_percent = True
            else:
                return value
            self._next()

    def _is_percent(self) -> bool:
        """Return whether % is a percentage (15%) and not a modulo (15 % 4), by what follows it."""
        return re.match(r"\s*(?:$|[)\],*/]|of\b)", self._text[self._at :]) is not None

    def _operand(self) -> Number:
        kind, word = self._kind, self._word
        if kind in ("number", "grouped"):
            return self._number(word)
        if kind == "name":
            return self._named(word)
        if word in ("+", "-"):
            self._next()
            value = self._expression(_PREFIX_BINDS)
            return self._do.subtract(0, value) if word == "-" else value
        if word == "(":
            return self._parenthesis()
        raise self._unexpected()

    def _number(self, word: str) -> Number:
        if self._calls and len(word) > 1 and word.isdigit() and word[0] == "0":
            raise _wrong("write numbers without thousands separators inside a function call")
        self._next()
        return self._do.literal(word.replace(",", "").replace("_", ""))

    def _parenthesis(self) -> Number:
        self._next()
        value = self._expression(0)
        self._after_percent = False
        self._close(")")
        return value

    def _close(self, sign: str) -> None:
        if self._word != sign:
            raise self._unexpected()
        self._next()

    def _named(self, word: str) -> Number:
        name = word.lower()
        self._next()
        if name in NAMES:
            return NAMES[name]
        if name not in FUNCTIONS:
            raise _wrong(f'"{word[:30]}" is not known; there are {", ".join([*FUNCTIONS, *NAMES])}')
        if self._word != "(":
            raise _wrong(f"{name} needs its argument in parentheses")
        return self._do.call(name, self._arguments())

    def _arguments(self) -> Sequence[Number]:
        """Parse `(a, b, …)`; a bracketed list counts as its items, because models write sum([1, 2])."""
        self._calls += 1
        self._next()
        values: list[Number] = []
        while self._word != ")":
            bracket = self._word == "["
            if bracket:
                self._next()
            values.append(self._expression(0))
            while bracket and self._word == ",":
                self._next()
                values.append(self._expression(0))
            if bracket:
                self._close("]")
            if self._word != ",":
                break
            self._next()
        self._after_percent = False
        self._calls -= 1
        self._close(")")
        return values
