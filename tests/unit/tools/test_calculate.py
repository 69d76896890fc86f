"""The calculator: results, errors, and limits for any text."""

import json

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonValue
from signalbox.core.tools import ToolContext
from signalbox.tools.arithmetic import FUNCTIONS, MOST_BITS, NAMES, WORK, Arithmetic
from signalbox.tools.calculate import LONGEST, calculate, evaluate

pytestmark = pytest.mark.anyio


async def result_of(expression: str) -> JsonValue:
    """Return the result of the tool."""
    answer = await calculate().run({"expression": expression}, ToolContext())
    assert isinstance(answer, dict)
    assert answer["expression"] == expression.strip()
    return answer["result"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2+2", 4),
        ("7/2", 3.5),
        ("6/3", 2),
        ("7//2", 3),
        ("-7//2", -4),
        ("-7%3", 2),
        ("2**10", 1024),
        ("2^10", 1024),
        ("-2**2", -4),
        ("2**-1", 0.5),
        ("2**3**2", 512),
        ("10-4-3", 3),
        ("(1+2)*3", 9),
        ("+5--5", 10),
        ("0**0", 1),
        ("2**53", 9007199254740992),
        ("4**0.5", 2),
        ("1.5e3", 1500),
        ("5!", 120),
        ("-3!", -6),
        ("2*3!", 12),
    ],
)
async def test_integers_stay_exact_and_signs_bind_as_usual(expression: str, expected: float):
    """A division without remainder is an integer, and precedence is that of mathematics."""
    value = await result_of(expression)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("0.1+0.2", 0.3), ("1.1*1.1", 1.21), ("19.99*3", 59.97), ("1/3*3", 1), ("1/3", 1 / 3), ("0.1e0+0.2e0", 0.3)],
)
async def test_decimals_are_exact_fractions(expression: str, expected: float):
    """0.1 + 0.2 is 0.3, without noise of binary fractions."""
    assert await result_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("15% of 80", 12),
        ("50*20%", 10),
        ("10%", 0.1),
        ("17 % 5", 2),
        ("10%-3", -2),
        ("1,234,567 × 3", 3703701),
        ("1,234.5+1", 1235.5),
        ("1_000*2", 2000),
        ("gcd(12,180)", 12),
        ("10 ÷ 4 − 1", 1.5),
        ("5²+2³", 33),
        ("2+2=", 4),
        ("2π", None),
        ("3·4", 12),
    ],
)
async def test_common_notations_are_parsed(expression: str, expected: float | None):
    """Percentages, thousands separators and typographic signs are parsed if they are unambiguous."""
    if expected is None:
        with pytest.raises(ToolError):
            await result_of(expression)
    else:
        assert await result_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sqrt(16)", 4),
        ("sqrt(0.25)", 0.5),
        ("sqrt(2)", 2**0.5),
        ("cbrt(-8)", -2),
        ("abs(-3)", 3),
        ("round(2.675, 2)", 2.68),
        ("round(1234, -2)", 1200),
        ("min(3, 1, 2)", 1),
        ("max(3, -1, 1/2)", 3),
        ("sum([1, 2, 3])", 6),
        ("sum(0.1, 0.2)", 0.3),
        ("mean(1, 2, 6)", 3),
        ("floor(-2.5)", -3),
        ("ceil(2.1)", 3),
        ("trunc(-2.5)", -2),
        ("log(8, 2)", 3),
        ("ln(e)", 1),
        ("log10(1000)", 3),
        ("log10(10**500)", 500),
        ("log2(1024)", 10),
        ("exp(0)", 1),
        ("pow(2, 0.5)", 2**0.5),
        ("sin(pi)", 0),
        ("cos(pi / 2)", 0),
        ("sin(pi / 6)", 0.5),
        ("tan(0)", 0),
        ("asin(1) * 2 - pi", 0),
        ("acos(1)", 0),
        ("atan(1) * 4 - pi", 0),
        ("degrees(atan2(1, 1))", 45),
        ("sinh(0) + cosh(0) + tanh(0)", 1),
        ("radians(180) - pi", 0),
        ("hypot(3, 4)", 5),
        ("factorial(20)", 2432902008176640000),
        ("comb(50, 25)", 126410606437752),
        ("perm(10, 3)", 720),
        ("gcd(12, 18)", 6),
        ("lcm(4, 6, 10)", 60),
        ("tau / pi", 2),
    ],
)
async def test_the_usual_functions(expression: str, expected: float):
    """Each function returns its mathematical value."""
    assert await result_of(expression) == expected


def test_every_function_and_constant_is_tested():
    """A new function needs a case."""
    marks = [mark for mark in test_the_usual_functions.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    tried = " ".join(expression for expression, _ in marks[0].args[1])
    assert [name for name in [*FUNCTIONS, *NAMES] if name not in tried] == []


async def test_large_integers_are_given_as_text_too():
    """Browsers lose digits beyond 2**53, and JSON encoders support 64 bits."""
    run = calculate().run
    assert await run({"expression": "2**53+1"}, ToolContext()) == {
        "expression": "2**53+1",
        "result": 9007199254740993,
        "text": "9007199254740993",
    }
    digits = str(12345678901234567890 * 10**10)
    assert await run({"expression": "12345678901234567890 * 10**10"}, ToolContext()) == {
        "expression": "12345678901234567890 * 10**10",
        "result": digits,
        "text": digits,
    }


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("1/0", "division by zero"),
        ("1//0", "division by zero"),
        ("1%0", "division by zero"),
        ("0**-1", "division by zero"),
        ("(-8)**0.5", "real numbers"),
        ("sqrt(-1)", "real numbers"),
        ("log(0)", "real numbers"),
        ("factorial(-1)", "real numbers"),
        ("1e308*10", "too large"),
        ("1e999", "too large"),
        ("exp(1000)", "too large"),
        ("10**3900/3", "too large or too small"),
        ("1/10**400", "too large or too small"),
        ("sin(10**400)", "too large"),
        ("10**10**10", "too large"),
        ("9**9**9", "too large"),
        ("9**9**9**9", "too large"),
        ("(1/3)**10**9", "too large"),
        ("factorial(10**9)", "too large"),
        ("comb(10**6, 5*10**5)", "too large"),
        ("perm(10**9, 10**8)", "too large"),
        ("lcm(10**3000+1, 10**3000+3)", "too large"),
        ("10**3000*10**3000", "too large"),
    ],
)
async def test_results_without_a_finite_real_value_are_errors(expression: str, says: str):
    """Complex, infinite, undefined and too large results are errors."""
    with pytest.raises(ToolError, match=says) as raised:
        await result_of(expression)
    assert raised.value.code is Code.TOOL_FAILED


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("", "ends too early"),
        ("2+", "ends too early"),
        ("((2)", "ends too early"),
        ("2)", r"\"\)\" is not expected"),
        ("2(3)", r"write \* for every multiplication"),
        ("1,5", "for decimals"),
        ("2 apples", '"apples" is not expected'),
        ("True+1", '"True" is not known'),
        ("__import__('os')", "is not expected"),
        ("().__class__", "is not expected"),
        ("[1][0]", "is not expected"),
        ("'a'*10**9", "is not expected"),
        ("1<<10**9", "is not expected"),
        ("sqrt", "needs its argument"),
        ("min()", "min takes 1 or more arguments, got 0"),
        ("sqrt(1, 2)", "sqrt takes 1 arguments, got 2"),
        ("round(1, 2, 3)", "round takes 1 to 2 arguments, got 3"),
        ("round(1, 10**9)", "at most 300 digits"),
        ("factorial(2.5)", "whole numbers only"),
        ("max(1,000, 2)", "thousands separators"),
        ("200 + 10%", "can mean two things"),
        ("1\ud800", "is not expected"),
        ("(" * 100 + "1" + ")" * 100, "nested too deeply"),
        ("-" * 500 + "1", "nested too deeply"),
        ("1" * (LONGEST + 1), "longer than 1,000"),
    ],
)
async def test_other_text_is_an_error_that_names_the_field(expression: str, says: str):
    """The error names the field and the place, so that a model can correct it."""
    with pytest.raises(ToolError, match=says) as raised:
        await result_of(expression)
    assert raised.value.code is Code.INVALID_ARGUMENTS
    assert raised.value.message.startswith("expression: ")
    orjson.dumps(raised.value.message)


def test_the_work_of_one_expression_is_bounded():
    """Many operations within the size limit exceed the budget of work, which counts bits, not time."""
    do = Arithmetic()
    value = do.power(3, 8000)

    def work() -> None:
        for _ in range(1_000):
            do.modulo(value, 7)

    with pytest.raises(ToolError, match="too large"):
        work()
    assert do.spent <= WORK + 3 * MOST_BITS


WORDS = [
    *FUNCTIONS,
    *NAMES,
    *"0123456789+-*/%^!().,[] ",
    "**",
    "//",
    " of ",
    "1,234",
    "10**3900",
    "1e308",
    "0.1",
    "9" * 99,
]
expressions = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=60).map("".join))


@settings(max_examples=400, deadline=None)
@given(expressions)
@example("comb(6400,3200)+" * 60 + "1")
@example("10**3000%(10**2999+7)+" * 40 + "1")
def test_ps23_any_text_gives_a_value_or_an_error(expression: str):
    """Any text gives a value in strict JSON or a ToolError."""
    try:
        value = evaluate(expression)
    except ToolError as error:
        orjson.dumps(error.message)  # a sentence that can be sent
        return
    if not isinstance(value, float):
        assert value.numerator.bit_length() + value.denominator.bit_length() <= MOST_BITS


@pytest.mark.parametrize(
    "expression", ["1/3", "2**64", "10**3900", "sin(1e15)", "1e-320", "5e-324/2", "-0.0", "0*-1e300"]
)
async def test_ps23_every_result_is_strict_json(expression: str):
    """No result is NaN, Infinity or an integer beyond 64 bits."""
    answer = await calculate().run({"expression": expression}, ToolContext())
    assert orjson.loads(orjson.dumps(answer)) == answer
    json.dumps(answer, allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**40), 10**40), st.integers(-(10**20), 10**20), st.sampled_from(["+", "-", "*", "//", "%"]))
def test_integer_arithmetic_is_pythons(a: int, b: int, sign: str):
    """Integers are computed as in Python."""
    if b == 0 and sign in ("//", "%"):
        return
    python = {"+": a + b, "-": a - b, "*": a * b, "//": b and a // b, "%": b and a % b}[sign]
    assert evaluate(f"({a}) {sign} ({b})") == python
