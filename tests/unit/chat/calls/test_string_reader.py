"""The strings of an object while it arrives: for any split, what was read so far is a beginning of the true value."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from signalbox.chat.calls.arguments import read_arguments
from signalbox.chat.calls.string_reader import StringReader, choice_of, string_at
from signalbox.core.parts import ArgumentStatus

RECORDINGS = Path(__file__).parents[5] / "shared" / "recordings"
CHOSEN = ("/path", "/content", "/edits/*/old", "/edits/*/new", "/deep/a~1b/text", "/list/*")
CHOICE = choice_of(CHOSEN)

CUTS = st.lists(st.integers(min_value=0, max_value=10_000), max_size=30)
# Text with everything that is escaped or cut in the middle of a character, and text that looks like structure.
TEXT = st.text(st.sampled_from('ab"\\/\b\f\n\r\t{}[]:,😀é\u2028\x7f\x00') | st.characters(exclude_categories=["Cs"]))
TRICKY = TEXT | st.sampled_from(['"content": "', '{"content":"x"}', "\\u0041", "\\", '", "path": "', "\\ud83d"])
KEYS = st.sampled_from(["path", "content", "edits", "deep", "list", "old", "new", "a/b", "text", "*", "0", ""]) | TEXT
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TRICKY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "path": TRICKY | VALUES,
        "content": TRICKY | VALUES,
        "edits": st.lists(st.dictionaries(st.sampled_from(["old", "new", "x"]), TRICKY | VALUES, max_size=3)),
        "deep": st.dictionaries(st.sampled_from(["a/b", "text"]), st.fixed_dictionaries({"text": TRICKY})),
        "list": st.lists(TRICKY, max_size=4),
        "other": VALUES,
    },
)
OBJECTS = FITTING | st.dictionaries(KEYS, VALUES, max_size=4)


def cut(text: str, cuts: list[int]) -> list[str]:
    """Cut a text at these places."""
    places = sorted({0, len(text), *(place % (len(text) + 1) for place in cuts)})
    return [text[one:other] for one, other in pairwise(places)]


def chosen_strings(value: Any, pointers: tuple[str, ...] = CHOSEN) -> dict[str, str]:
    """Return the chosen strings of a value that are not empty, by a walk through all of it."""

    def walk(value: Any, at: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
        if isinstance(value, str) and value:
            yield at, value
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, (*at, f"k{key}"))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from walk(inner, (*at, f"i{index}"))

    def fits(at: tuple[str, ...], pointer: str) -> bool:
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
        return len(tokens) == len(at) and all(
            token == "*" if step[0] == "i" else token == step[1:] for token, step in zip(tokens, at, strict=True)
        )

    def name(at: tuple[str, ...]) -> str:
        return "".join("/" + step[1:].replace("~", "~0").replace("/", "~1") for step in at)

    return {name(at): text for at, text in walk(value, ()) if any(fits(at, pointer) for pointer in pointers)}


def strings_of(pieces: list[str], reader: StringReader | None = None) -> dict[str, str]:
    """Return what a reader reads of these pieces, by pointer."""
    reader, out = reader or StringReader(CHOICE), dict[str, str]()
    for piece in pieces:
        for one in reader.feed(piece):
            assert one.text
            out[one.key] = out.get(one.key, "") + one.text
    return out


@given(OBJECTS, CUTS, st.booleans(), st.sampled_from([None, 1]))
def test_sc05_any_split_reads_the_true_strings(
    value: dict[str, Any], cuts: list[int], ascii_: bool, indent: int
) -> None:
    """In the whole, and after each piece a beginning; no other string is read, whatever it contains."""
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    true = chosen_strings(value)
    reader, so_far = StringReader(CHOICE), dict[str, str]()
    for piece in cut(text, cuts):
        for one in reader.feed(piece):
            so_far[one.key] = so_far.get(one.key, "") + one.text
            assert true[one.key].startswith(so_far[one.key])
    assert so_far == true
    assert not reader.is_wrong
    assert all(string_at(value, key) == string for key, string in true.items())


UNITS = st.sampled_from(
    [
        "\\ud83d",
        "\\ude00",
        "\\uD83D\\uDE00",
        "\\u00e9",
        "\\n",
        "\\\\",
        '\\"',
        "\\/",
        "u",
        "d",
        "0",
        "\\udbff",
        "\\udfff",
    ]
)


@given(st.lists(UNITS, max_size=12).map("".join), CUTS)
@example("\\ud83d\\ud83d\\ude00", [6])
@example("\\ud83d\\\\ude00", [8])
def test_surrogates_are_read_as_the_final_parser_reads_them(raw: str, cuts: list[int]) -> None:
    """A pair is one character wherever it is cut; a lone one is replaced."""
    text = f'{{"content": "{raw}"}}'
    status, value = read_arguments(text)
    assert status is ArgumentStatus.OK
    assert strings_of(cut(text, cuts)) == chosen_strings(value)


@given(st.text(st.sampled_from('{}[]",:\\u0dcontent1 \n\x01'), max_size=40), CUTS)
def test_any_text_is_read_without_an_exception(text: str, cuts: list[int]) -> None:
    """If it is JSON after all, its strings are right; a key that occurs twice is reported."""
    whole = '{"content":' + text
    reader = StringReader(CHOICE)
    strings = strings_of(cut(whole, cuts), reader)
    status, value = read_arguments(whole)
    if status is ArgumentStatus.OK and not reader.is_wrong:
        assert strings == chosen_strings(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"content": "a", "content": "b"}',
        '{"content": "a", "\\u0063ontent": "b"}',
        '{"edits": [{"old": "a", "old": "b"}]}',
        '{"edits": [{"old": "a"}], "edits": []}',
        '{"content": "a\nb"}',
        '{"content": "a\\x41 and more text"}',
        '{"content": "a\\u00g1 and more text"}',
    ],
)
def test_what_the_call_will_prove_wrong_is_reported(text: str) -> None:
    """A later value of the same key replaces the earlier one, and what is no JSON is no argument."""
    for size in (1, 3, len(text)):
        reader = StringReader(CHOICE)
        strings_of([text[at : at + size] for at in range(0, len(text), size)], reader)
        assert reader.is_wrong
        assert reader.feed('"content": "more"') == []


def test_a_key_may_occur_in_different_objects() -> None:
    """Each edit has an old text; a key that contains no chosen string may occur twice."""
    text = '{"x": 1, "x": 2, "edits": [{"old": "a"}, {"old": "b"}], "y": {"content": "no"}}'
    reader = StringReader(CHOICE)
    assert strings_of([*text], reader) == {"/edits/0/old": "a", "/edits/1/old": "b"}
    assert not reader.is_wrong


def test_separators_without_values_end_the_reading() -> None:
    """A hostile model could otherwise make each of them cost a step of Python."""
    reader = StringReader(CHOICE)
    assert reader.feed('{"edits": [, ,\n, ') == []
    assert reader.is_wrong


def test_strings_of_very_many_members_are_not_read() -> None:
    """After very many members of a list, the reader reads on without previews; the announced call contains the rest."""
    edits = [{"old": f"{n}"} for n in range(1_500)]
    text = json.dumps({"edits": edits, "content": "x", "list": ["]}", "y"]})
    for size in (1, 1_000, len(text)):
        reader = StringReader(CHOICE)
        strings = strings_of([text[at : at + size] for at in range(0, len(text), size)], reader)
        assert not reader.is_wrong
        expected = {f"/edits/{n}/old": f"{n}" for n in range(1_000)}
        assert strings == {**expected, "/content": "x", "/list/0": "]}", "/list/1": "y"}


def test_pieces_appear_at_once() -> None:
    """All whole characters of a piece are read; only an unfinished escape is held back."""
    reader = StringReader(CHOICE)
    fed = ['{"con', 'tent": "He', "llo\\", "nyou\\ud83d", "\\ude0", '0!"', "}"]
    assert [[one.text for one in reader.feed(piece)] for piece in fed] == [
        [], ["He"], ["llo"], ["\nyou"], [], ["😀!"], [],
    ]  # fmt: skip


def _recorded_arguments() -> list[str]:
    """Return the arguments of all tool calls in the recorded answers, joined by call."""
    found: list[str] = []
    for path in sorted(RECORDINGS.glob("*.sse")):
        calls: dict[object, str] = {}
        for line in path.read_bytes().splitlines():
            if not line.startswith(b"data: {"):
                continue
            try:
                frame = orjson.loads(line[6:])
            except orjson.JSONDecodeError:
                continue
            for place, text in _pieces_in(frame):
                calls[place] = calls.get(place, "") + text
        found += calls.values()
    return found


def _pieces_in(frame: Any) -> Iterator[tuple[object, str]]:
    """Yield the pieces of arguments in a frame of chat completions, Anthropic's messages or OpenAI's responses."""
    if frame.get("type") == "content_block_delta" and frame["delta"].get("type") == "input_json_delta":
        yield frame["index"], frame["delta"]["partial_json"]
    if frame.get("type") == "response.function_call_arguments.delta":
        yield frame.get("item_id"), frame["delta"]
    for choice in frame.get("choices") or ():
        for call in (choice.get("delta") or {}).get("tool_calls") or ():
            yield call.get("index"), (call.get("function") or {}).get("arguments") or ""


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not in this checkout")
def test_sc05_recorded_arguments_are_read_as_they_are() -> None:
    """All top-level strings of each recorded call, cut after each character and in pieces of 7."""
    tested = 0
    for text in _recorded_arguments():
        status, value = read_arguments(text)
        if status is not ArgumentStatus.OK or not isinstance(value, dict):
            continue
        pointers = tuple("/" + key.replace("~", "~0").replace("/", "~1") for key in value)
        for size in (1, 7):
            reader = StringReader(choice_of(pointers))
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            assert strings_of(pieces, reader) == chosen_strings(value, pointers)
        tested += 1
    assert tested > 20
