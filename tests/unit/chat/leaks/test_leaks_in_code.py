"""Markup of calls in Markdown code is text, and leaks after the code are found (quirk A11)."""

import pytest
from signalbox.chat.leaks import ParsedText

from tests.unit.chat.leaks.leak_samples import CALLED, INLINE, LEAKS, RAIN, found_in, parse_cut


@pytest.mark.parametrize("dialect", LEAKS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```xml\n", "\n```\n"),
        ("  ~~~\n```\n", "\n~~~~\n"),
        ("1. so:\n\n    ````\n    ", "\n    ```\n    ````\n"),
        ("- ```\n", "\n"),
    ],
)
def test_a11_a_code_block_is_unchanged(dialect: str, before: str, after: str) -> None:
    """The same text in a code block stays, and the text after the block is searched again."""
    text = before + LEAKS[dialect][0].replace("```", "") + after
    assert parse_cut(text) == ParsedText(text, (), False)
    assert parse_cut(*text) == ParsedText(text, (), False)


@pytest.mark.parametrize(
    "text",
    [
        f"`{INLINE}`",
        f"``a ` {INLINE}``",
        f"so: `{CALLED}`",
        f"```{INLINE}``` is not a code block",
        f"``` `\n{INLINE}```",
        f"> ```\n> {INLINE}\n",
        f"~~~ `x`\n{INLINE}\n~~~",
        f"```\n{INLINE}\n``` no end\n{INLINE}\n",
        f"```\n{INLINE}\n~~~\n{INLINE}\n``\n{INLINE}",
        f"\\{INLINE}",
    ],
)
def test_a11_code_of_every_form_is_unchanged(text: str) -> None:
    """Code spans and code fences follow CommonMark, however the text is cut."""
    assert parse_cut(text) == ParsedText(text, (), False)
    for cut in range(1, len(text)):
        assert parse_cut(text[:cut], text[cut:]).text == text


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n",
        "~~~~\n~~~\n~~~~~ \n",
        "`code` and ``co`de`` ",
        "a ` alone\n\n",
        "``` ` is no block\n\n",
        "an escaped \\` mark ",
        "\\\\",
        "```not a block``` ",
        "~~struck~~ ",
        "x ~~~ y\n",
    ],
)
def test_a11_a_leak_after_code_is_found(text: str) -> None:
    """Code that has ended, and marks that do not begin code, hide no leak."""
    for parsed in (parse_cut(text + CALLED), parse_cut(*text, *CALLED)):
        assert (parsed.text, found_in(parsed)) == (text, [RAIN])
