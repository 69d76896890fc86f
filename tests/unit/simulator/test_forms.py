"""Forms of an answer: tables, lists, formulas, programs."""

import ast

import pytest
from signalbox.simulator.model.forms import wants_list, wants_table, without_form
from signalbox.simulator.model.formulas import formula_in, shown_result
from signalbox.simulator.model.intents import stages
from signalbox.simulator.model.programs import asks_for_program, program
from signalbox.simulator.model.tables import names
from signalbox.tools.calculate import evaluate

from tests.unit.simulator.requests import source
from tests.unit.simulator.test_model import answer_to, turn


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("Compare Lisbon and Porto for a weekend trip, in a table.", ["Lisbon weekend trip", "Porto weekend trip"]),
        ("Make me a table comparing Lisbon and Porto", ["Lisbon", "Porto"]),
        ("Compare SSE with WebSockets side by side", ["SSE", "WebSockets"]),
        ("What are good tips against jet lag?", ["jet lag"]),
        ("Give me a few tips against jet lag", ["jet lag"]),
        ("How do I save a note? Answer as a list.", ["save note"]),
    ],
)
def test_words_about_the_form_are_not_searched_for(question: str, queries: list[str]) -> None:
    """Only the subject is searched for; both sides of a comparison have the same aspect."""
    assert wants_table(question) or wants_list(question)
    found = [intent for stage in stages(question) for intent in stage]
    assert [(intent.kind, intent.subject) for intent in found] == [("search", query) for query in queries]


@pytest.mark.parametrize(
    "question", ["How do I play table tennis?", "What is the tip of an iceberg?", "Which settings are listed?"]
)
def test_other_questions_keep_their_words(question: str) -> None:
    """Words that resemble a form but are not one are kept."""
    assert not wants_table(question)
    assert not wants_list(question)
    assert without_form(question) == question


@pytest.mark.parametrize(
    ("question", "result"),
    [
        ("What is the monthly payment on a loan of $250,000 at 4% over 25 years?", "$1,319.59"),
        ("If I borrow 10,000 at 5% for 36 months, what do I pay a month?", "299.71"),
        ("Mortgage of €300k, 3.5 percent, 30 years: what is the payment?", "€1,347.13"),
        ("Split a bill of 87.40 between four people with a 10% tip", "24.04"),
        ("We are 3 friends and the bill is $90. How much does each pay?", "$30.00"),
        ("How much do I have if I save 200 a month at 3% for 10 years?", "27,948.28"),
        ("I invest £5,000 at 4% interest for 10 years", "£7,401.22"),
    ],
)
def test_calculations_in_words(question: str, result: str) -> None:
    """The calculator gets an expression, and nothing is searched for."""
    formula = formula_in(question)
    assert formula is not None
    assert shown_result(formula, str(float(evaluate(formula.expression)))) == result
    assert [(one.kind, one.subject) for stage in stages(question) for one in stage] == [
        ("calculate", formula.expression)
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What is a mortgage?",
        "How much is a loan of 5,000?",
        "Split the bill between 0 people: 10",
        "How do I save a note?",
        "What is 17 * 23?",
    ],
)
def test_calculations_without_a_number(question: str) -> None:
    """They are handled like any other question."""
    assert formula_in(question) is None


def test_answers_with_a_calculation() -> None:
    """The answer has the formula, its values and the calculator's result."""
    question = "What is the monthly payment on a loan of $250,000 at 4% over 25 years?"
    text = answer_to(question, {"success": True, "result": {"expression": "…", "result": 1234.5}})
    assert "$$\nM = P" in text
    assert "- $P$ is the loan: $250,000" in text
    assert "The calculator gives **$1,234.50** a month." in text
    assert "failed" in answer_to(question, {"success": False, "error": "division by zero"})


def test_common_facts_are_rows_of_a_table() -> None:
    """Sources that state the same facts are compared, each with its citation."""
    lisbon = source(1, "Lisbon", "Food: tarts. Transport: trams. Sea: near.")
    porto = source(2, "Porto", "Food: francesinha | port. Transport: metro.")
    text = answer_to("Compare Lisbon and Porto in a table", {"results": [lisbon]}, {"results": [porto, lisbon]})
    assert "|  | Lisbon | Porto |" in text
    assert "| Food | tarts | francesinha port |" in text
    assert "| Source | Lisbon [1] | Porto [2] |" in text
    assert "Sea" not in text


def test_other_sources_are_rows_of_a_table() -> None:
    """One search, or sources without common facts, give one row per source."""
    items = [source(1, "Replay", "Replay goes on."), source(2, "Replay again", "Replay is like this.")]
    text = answer_to("How does replay work? Put it in a table, please.", {"results": items})
    assert "| Replay [1] | Replay goes on. |" in text
    assert "| Replay again [2] | Replay is like this. |" in text


def test_tables_need_results() -> None:
    """If one side was not found, the answer says so."""
    empty = {"searched": "docs", "results": []}
    assert "|" not in answer_to("Compare Paris and Rome in a table", empty, empty)


def test_column_names() -> None:
    """Columns are named after the words that differ; equal queries keep theirs."""
    assert names(["Lisbon weekend trip", "Porto weekend trip"]) == ["Lisbon", "Porto"]
    assert names(["trip", "trip"]) == ["trip", "trip"]


def test_lists_cite_their_sources() -> None:
    """The sentences of the best source are a numbered list, or one sentence of each source."""
    tips = source(3, "Jet lag", "Sleep at local times. Drink water.")
    assert "1. Sleep at local times. [3]\n2. Drink water. [3]" in answer_to("Tips for jet lag?", {"results": [tips]})
    short = [source(1, "Jet lag", "Sleep."), source(2, "Jet lag again", "Drink.")]
    assert "1. Sleep. [1]\n2. Drink. [2]" in answer_to("Tips for jet lag?", {"results": short})


@pytest.mark.parametrize(
    ("question", "code_block"),
    [
        ("Write a Python script that renames my photos by date.", "```python"),
        ("I need a bash script for renaming pictures", "```bash"),
        ("Can you write code in JavaScript that renames image files?", "```javascript"),
        ("Write a Go function that reverses a list", "```go"),
        ("Create a TypeScript function for sorting", "```typescript"),
        ("Make a program in Rust that counts words", "```rust"),
        ("Write a script that waits", "```python"),
    ],
)
def test_languages_of_programs(question: str, code_block: str) -> None:
    """No tool is called for a program, and the answer says that the model is simulated."""
    made = turn(question)
    assert made.calls == ()
    assert f"{code_block}\n" in made.text
    assert "I am a simulated model" in made.text


@pytest.mark.parametrize("question", ["Write a Python script that renames my photos", "Write a script that waits"])
def test_python_templates_are_valid(question: str) -> None:
    """Python templates compile."""
    ast.parse(program(question).split("```python\n")[1].split("\n```")[0])


def test_questions_about_code() -> None:
    """They are searched for."""
    assert not asks_for_program("What does the code STREAM_CUT mean?")
    assert not asks_for_program("minimal client JavaScript")


def test_programs_with_other_questions() -> None:
    """The rest of the message is looked up as usual."""
    question = "Write a bash script that renames photos, then search for replay"
    text = answer_to(question, {"results": [source(1, "Replay", "It goes on.")]})
    assert "```bash" in text
    assert "**Replay**: It goes on. [1]" in text
