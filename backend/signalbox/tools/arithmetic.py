"""Exact arithmetic with limits that are checked before each operation."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError

Number: TypeAlias = int | Fraction | float

# 13,000 bits are 3,900 digits: within what Python turns into text (4,300 digits), and one operation on two such
# numbers takes well under a millisecond. WORK bounds the sum of bits over an expression.
MOST_BITS = 13_000
WORK = 600_000

NAMES: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}


def too_large() -> ToolError:
    """Return the error for a number or a computation that exceeds the limits."""
    return ToolError(Code.TOOL_FAILED, "This cannot be computed: a number in it would be too large.")


class Arithmetic:
    """The operations of one expression; they share one budget of work, counted in bits of operands and results."""

    def __init__(self) -> None:
        self.spent = 0

    def literal(self, digits: str) -> Number:
        """Parse a number: integers and decimals are exact, scientific notation (6.02e23) is a float."""
        if "e" in digits or "E" in digits:
            return self._checked(float(digits))
        return self._checked(Fraction(digits) if "." in digits else int(digits))

    def add(self, a: Number, b: Number) -> Number:
        """Return a + b."""
        self._spend(a, b)
        return self._checked(a + b)

    def subtract(self, a: Number, b: Number) -> Number:
        """Return a - b."""
        self._spend(a, b)
        return self._checked(a - b)

    def multiply(self, a: Number, b: Number) -> Number:
        """Return a * b."""
        self._spend(a, b)
        return self._checked(a * b)

    def divide(self, a: Number, b: Number) -> Number:
        """Return a / b, exactly unless one of them is a float."""
        self._spend(a, b)
        if isinstance(a, float) or isinstance(b, float):
            return self._checked(a / b)
        return self._checked(Fraction(a) / b)

    def floor_divide(self, a: Number, b: Number) -> Number:
        """Return a // b, rounded down as in Python."""
        self._spend(a, b)
        return self._checked(a // b)

    def modulo(self, a: Number, b: Number) -> Number:
        """Return a % b, with the sign of b as in Python."""
        self._spend(a, b)
        return self._checked(a % b)

    def power(self, a: Number, b: Number) -> Number:
        """Return a ** b, exactly for a whole exponent."""
        self._spend(a, b)
        if isinstance(a, float) or not isinstance(b, int):
            return self._checked(math.pow(a, b))
        # A fraction of that many bits is at least 2 ** (bits - 2), so this is a lower bound of the result's size.
        if (_bits(a) - 2) * abs(b) > MOST_BITS:
            raise too_large()
        return self._checked(Fraction(a) ** b)

    def call(self, name: str, values: Sequence[Number]) -> Number:
        """Return a function of FUNCTIONS applied to these values."""
        fewest, most, compute = FUNCTIONS[name]
        if not fewest <= len(values) <= (most or len(values)):
            takes = f"{fewest}" if fewest == most else f"{fewest} to {most}" if most else f"{fewest} or more"
            raise ToolError(Code.INVALID_ARGUMENTS, f"expression: {name} takes {takes} arguments, got {len(values)}")
        self._spend(*values)
        return self._checked(compute(self, values))

    def _spend(self, *values: Number) -> None:
        self.spent += 64 + sum(map(_bits, values))
        if self.spent > WORK:
            raise too_large()

    def _checked(self, value: Number) -> Number:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise too_large()
            return value
        self._spend(value)
        if _bits(value) > MOST_BITS:
            raise too_large()
        return value.numerator if value.denominator == 1 else value


def _bits(value: Number) -> int:
    if isinstance(value, float):
        return 64
    return value.numerator.bit_length() + value.denominator.bit_length()


# --- functions ---

_Compute: TypeAlias = Callable[[Arithmetic, Sequence[Number]], Number]


def _whole(value: Number) -> int:
    if isinstance(value, Fraction) or int(value) != value:
        raise ToolError(Code.INVALID_ARGUMENTS, "expression: factorial, comb, perm, gcd, lcm take whole numbers only")
    return int(value)


def _factorial(do: Arithmetic, values: Sequence[Number]) -> Number:
    n = _whole(values[0])
    if n > 1_500:  # 1,500! has 13,700 bits
        raise too_large()
    return math.factorial(n)


def _comb(do: Arithmetic, values: Sequence[Number]) -> Number:
    n, k = map(_whole, values)
    smaller = min(k, n - k)
    # With k <= n / 2 the result is at least 2 ** k, and at least (n / k) ** k.
    if smaller > 0 and smaller * max(1, n.bit_length() - smaller.bit_length() - 1) > MOST_BITS:
        raise too_large()
    return math.comb(n, k)


def _perm(do: Arithmetic, values: Sequence[Number]) -> Number:
    n, k = map(_whole, values)
    # The result is at least k!, and at most n ** k.
    if k > 1_500 or (k > 0 and k * n.bit_length() > 4 * MOST_BITS):
        raise too_large()
    return math.perm(n, k)


def _lcm(do: Arithmetic, values: Sequence[Number]) -> Number:
    def step(a: Number, b: Number) -> Number:
        return do.multiply(a, _whole(b) // (math.gcd(_whole(a), _whole(b)) or 1))

    return abs(reduce(step, values, 1))


def _sum(do: Arithmetic, values: Sequence[Number]) -> Number:
    return reduce(do.add, values)


def _round(do: Arithmetic, values: Sequence[Number]) -> Number:
    digits = _whole(values[1]) if len(values) == 2 else 0
    if abs(digits) > 300:
        raise ToolError(Code.INVALID_ARGUMENTS, "expression: round takes at most 300 digits")
    return round(values[0], digits) if digits else round(values[0])


def _sqrt(do: Arithmetic, values: Sequence[Number]) -> Number:
    value = values[0]
    if isinstance(value, float) or value < 0:
        return math.sqrt(value)
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else math.sqrt(value)


def _log(do: Arithmetic, values: Sequence[Number]) -> Number:
    value, base = values[0], values[1] if len(values) == 2 else math.e
    if base in (2, 10):
        return math.log2(value) if base == 2 else math.log10(value)
    return math.log(value) if base == math.e else math.log(value, base)


def _real(compute: Callable[[float], float]) -> _Compute:
    return lambda _, values: compute(float(values[0]))


def _periodic(compute: Callable[[float], float]) -> _Compute:
    """Return 0 where the result is smaller than the rounding of the angle itself: sin(pi) is 0, not 1.2e-16."""

    def run(do: Arithmetic, values: Sequence[Number]) -> Number:
        angle = float(values[0])
        value = compute(angle)
        return 0 if abs(value) < math.ulp(angle) and angle else value

    return run


def _pair(compute: Callable[[float, float], float]) -> _Compute:
    return lambda _, values: compute(float(values[0]), float(values[1]))


# name → (fewest arguments, most or 0 for any number, function)
FUNCTIONS: dict[str, tuple[int, int, _Compute]] = {
    "sqrt": (1, 1, _sqrt),
    "cbrt": (1, 1, _real(math.cbrt)),
    "abs": (1, 1, lambda _, values: abs(values[0])),
    "round": (1, 2, _round),
    "floor": (1, 1, lambda _, values: math.floor(values[0])),
    "ceil": (1, 1, lambda _, values: math.ceil(values[0])),
    "trunc": (1, 1, lambda _, values: math.trunc(values[0])),
    "min": (1, 0, lambda _, values: min(values)),
    "max": (1, 0, lambda _, values: max(values)),
    "sum": (1, 0, _sum),
    "mean": (1, 0, lambda do, values: do.divide(_sum(do, values), len(values))),
    "log": (1, 2, _log),
    "ln": (1, 1, _log),
    "log10": (1, 1, lambda _, values: math.log10(values[0])),
    "log2": (1, 1, lambda _, values: math.log2(values[0])),
    "exp": (1, 1, _real(math.exp)),
    "pow": (2, 2, lambda do, values: do.power(values[0], values[1])),
    "sin": (1, 1, _periodic(math.sin)),
    "cos": (1, 1, _periodic(math.cos)),
    "tan": (1, 1, _periodic(math.tan)),
    "asin": (1, 1, _real(math.asin)),
    "acos": (1, 1, _real(math.acos)),
    "atan": (1, 1, _real(math.atan)),
    "atan2": (2, 2, _pair(math.atan2)),
    "sinh": (1, 1, _real(math.sinh)),
    "cosh": (1, 1, _real(math.cosh)),
    "tanh": (1, 1, _real(math.tanh)),
    "degrees": (1, 1, _real(math.degrees)),
    "radians": (1, 1, _real(math.radians)),
    "hypot": (1, 0, lambda _, values: math.hypot(*values)),
    "factorial": (1, 1, _factorial),
    "comb": (2, 2, _comb),
    "perm": (2, 2, _perm),
    "gcd": (1, 0, lambda _, values: math.gcd(*map(_whole, values))),
    "lcm": (1, 0, _lcm),
}
