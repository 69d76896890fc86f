"""Eval sets: what they may contain, that an error names its line and field, and which trials they make."""

import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from signalbox.evals.loading import SetError, load_set

from tests.unit.evals.conftest import Load

GIF = b64decode("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=")
GOOD = """\
name = "First steps"
models = ["openai/sim"]

[defaults]
system = "Be brief."
params = { temperature = 0 }

[[cases]]
id = "one"
prompt = "Hello!"

[[cases]]
id = "two"
prompt = "What is 17 * 23?"
tools = ["calculate"]
params = { max_steps = 3 }

[cases.expect]
contains = "391"
matches = '\\b391\\b'

[cases.expect.tools]
exactly = ["calculate"]
"""


def test_a_set_and_its_trials(load: Load) -> None:
    """Each case is asked of each model on each loop, as often as it repeats."""
    loaded = load(GOOD.replace("models =", 'repeat = 2\nloops = ["v2", "legacy"]\nmodels ='))
    places = [(one.question.case.id, one.model, one.loop, one.repeat) for one in loaded.trials]
    assert loaded.name == "First steps"
    assert places == [
        (case, "openai/sim", loop, repeat) for case in ("one", "two") for loop in ("v2", "legacy") for repeat in (1, 2)
    ]
    assert len({one.digest for one in loaded.trials}) == 8


def test_a_request_has_the_defaults_and_what_its_case_sets(load: Load) -> None:
    """Parameters are merged by name; system and tools of a case replace the defaults."""
    first, second = load(GOOD).trials
    said = [{"role": "user", "content": "Hello!"}]
    assert first.body == {"model": "openai/sim", "temperature": 0, "system": "Be brief.", "messages": said}
    assert second.body["max_steps"] == 3
    assert second.body["temperature"] == 0
    assert second.body["tools"] == ["calculate"]


def test_expectations_of_a_case_replace_the_same_defaults(load: Load) -> None:
    """A field that the case does not set keeps its default."""
    text = GOOD.replace("[[cases]]", '[defaults.expect]\ncontains = "x"\nmax_steps = 2\n\n[[cases]]', 1)
    first, second = (trial.question.expect for trial in load(text).trials)
    assert (first.contains, first.max_steps) == (["x"], 2)
    assert (second.contains, second.max_steps) == (["391"], 2)


def test_a_case_may_name_its_models_and_loops(load: Load) -> None:
    """They replace those of the set."""
    text = GOOD.replace('id = "one"', 'id = "one"\nmodels = ["a/b", "c/d"]\nloops = ["legacy"]\nrepeat = 2')
    places = [(one.model, one.loop, one.repeat) for one in load(text).trials]
    assert places == [*((model, "legacy", n) for model in ("a/b", "c/d") for n in (1, 2)), ("openai/sim", None, 1)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Hello!"', '"Hello there!"'),
        ('"Be brief."', '"Be kind."'),
        ('id = "one"', 'id = "other"'),
        ("temperature = 0", "temperature = 1"),
        ("[defaults]", "[defaults]\nexpect.max_steps = 1"),
        ('id = "one"', 'id = "one"\nconversation = true'),
    ],
)
def test_a_changed_case_has_another_digest(load: Load, old: str, new: str) -> None:
    """Otherwise its earlier results would be taken for results of the new one."""
    before = load(GOOD).trials[0].digest
    assert load(GOOD).trials[0].digest == before
    assert load(GOOD.replace(old, new, 1)).trials[0].digest != before


FAULTS: list[tuple[str, str, int, str]] = [
    ('id = "two"', 'id = "one"', 8, r"cases: two cases have the id 'one'; give each its own id"),
    ('id = "two"', 'id = "two"\ncolour = "red"', 14, r"cases\[1\]\.colour \(case 'two'\): there is no such field"),
    (
        'contains = "391"',
        'contain = "391"',
        19,
        r"cases\[1\]\.expect\.contain \(case 'two'\): there is no such field; did you mean contains\?$",
    ),
    ("'\\b391\\b'", "'(391'", 20, r"cases\[1\]\.expect\.matches\[?.*not a regular expression"),
    ('exactly = ["calculate"]', "exactly = 3", 23, r"cases\[1\]\.expect\.tools\.exactly .*must be a list, such as"),
    (
        "max_steps = 3",
        "max_steps = 99",
        16,
        r"cases\[1\]\.params\.max_steps \(case 'two'\): must be less than or equal to 50",
    ),
    ("max_steps = 3", "maximum = 3", 16, r"cases\[1\]\.params .*there is no parameter 'maximum'"),
    ("max_steps = 3", 'model = "x"', 16, r"cases\[1\]\.params .*cannot contain model; set models outside of params"),
    ("temperature = 0", "temperature = 9", 6, r"defaults\.params\.temperature .*less than or equal to 2"),
    ('prompt = "Hello!"', "", 8, r"cases\[0\] \(case 'one'\): needs one of prompt, prompt_file and messages"),
    ('prompt = "Hello!"', 'prompt = "a"\nprompt_file = "b"', 8, r"but has prompt, prompt_file"),
    ('models = ["openai/sim"]', "models = []", 2, r"models: at least one value"),
    ('models = ["openai/sim"]', 'models = ["open ai"]', 2, r"models .*must be a model id"),
    ('models = ["openai/sim"]', 'models = ["a"]\nloops = ["v3"]', 3, r"loops\[0\]: must be 'v2' or 'legacy'"),
    ('models = ["openai/sim"]', "", 1, r"models: is missing"),
    ('id = "two"', 'id = "t o"', 13, r"cases\[1\]\.id \(case 't o'\): must begin with a letter or digit and contain"),
    ('id = "one"', 'id = "one"\nexpect = "391"', 10, r"cases\[0\]\.expect \(case 'one'\): must be a table"),
    ("[defaults]", '[defaults]\nsystem_file = "x"', 4, r"defaults: takes system or system_file, not both"),
    ('contains = "391"', "contains = 391", 19, r"expect\.contains .*must be a list, such as"),
    ('contains = "391"', 'files = [{ path = "a", exists = false, contains = "b" }]', 19, r"must not exist"),
]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"), FAULTS, ids=[f"{n} {one[1][:24]}" for n, one in enumerate(FAULTS)]
)
def test_a_fault_has_its_line_and_field(load: Load, old: str, new: str, line: int, words: str) -> None:
    """The sentence names the file, the line, the field and the case."""
    assert old in GOOD
    with pytest.raises(SetError) as caught:
        load(GOOD.replace(old, new, 1))
    assert str(caught.value).startswith(f"set.toml, line {line}: "), caught.value
    assert re.search(words, str(caught.value)), caught.value


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name = 1\nmodels =", r"set\.toml is not TOML: .*line 2|end of document"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b'models = ["a"]\n[cases]\nid = "one"', r"line 2: cases: write \[\[cases\]\], in double brackets"),
        (b"\xff", r"set\.toml is not UTF-8 text"),
        (b"x = '" + b"x" * 5 * 1024 * 1024 + b"'", r"larger than 4 MB"),
    ],
)
def test_a_file_that_is_no_set(tmp_path: Path, data: bytes, words: str) -> None:
    """It is described in a sentence."""
    path = tmp_path / "set.toml"
    path.write_bytes(data)
    with pytest.raises(SetError, match=words):
        load_set(path)


def test_a_set_with_too_many_runs(load: Load) -> None:
    """A mistyped number must not start a million runs."""
    models = ", ".join(f'"a/{number}"' for number in range(100))
    with pytest.raises(SetError, match=r"set\.toml has 200,000 runs, but 100,000 are the most\. Reduce models"):
        load(GOOD.replace('models = ["openai/sim"]', f"models = [{models}]\nrepeat = 1000"))


def test_a_missing_set(tmp_path: Path) -> None:
    """The sentence names the file."""
    with pytest.raises(SetError, match=r"none\.toml cannot be read: No such file"):
        load_set(tmp_path / "none.toml")


# --- files ------------------------------------------------------------------------------------------------------------


def test_images_files_and_prompts_come_from_the_folder(load: Load, tmp_path: Path) -> None:
    """A prompt, instructions, an image and a document are read and become one request."""
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots" / "page.gif").write_bytes(GIF)
    (tmp_path / "notes.txt").write_text("Notes.")
    (tmp_path / "ask.md").write_text("Make this page.")
    (tmp_path / "system.md").write_text("You write HTML.")
    text = 'models = ["a/b"]\n[[cases]]\nid = "one"\nprompt_file = "ask.md"\nsystem_file = "system.md"\n'
    body: dict[str, Any] = load(text + 'images = ["shots/page.gif"]\nfiles = ["notes.txt"]\n').trials[0].body
    asked, image, file = body["messages"][0]["content"]
    assert body["system"] == "You write HTML."
    assert asked == {"type": "text", "text": "Make this page."}
    assert image["image_url"]["url"].startswith("data:image/gif;base64,R0lGOD")
    assert file["file"] == {"filename": "notes.txt", "file_data": "data:text/plain;base64,Tm90ZXMu"}


def test_an_image_joins_the_last_message(load: Load, tmp_path: Path) -> None:
    """Only a user's message can have one."""
    (tmp_path / "page.gif").write_bytes(GIF)
    text = (
        'models = ["a/b"]\n[[cases]]\nid = "one"\nimages = ["page.gif"]\nmessages = [{ role = "user", content = "Hi" }]'
    )
    messages: Any = load(text).trials[0].body["messages"]
    assert [part["type"] for part in messages[0]["content"]] == ["text", "image_url"]
    with pytest.raises(SetError, match=r"line 5: cases\[0\]\.messages .*must be a user's"):
        load(text.replace('"user", content = "Hi"', '"assistant", content = "Hi"'))


@pytest.mark.parametrize("field", ["images", "files", "prompt_file", "system_file"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/etc/passwd", "must be in the folder of the set"),
        ("../secret.txt", "must be in the folder of the set"),
        ("sub/../../secret.txt", "must be in the folder of the set"),
        ("link.txt", "is a link to a file outside"),
        ("folder/secret.txt", "is a link to a file outside"),
        ("loop", "cannot be read"),
        ("pipe", "is not a regular file"),
        ("sub", "is not a regular file"),
        ("none.txt", "cannot be read: No such file"),
        ("C:\\\\secret", "must be a relative path"),
        ("file:///etc/passwd", "must be a relative path"),
        ("a\\u0000b", "must be a relative path"),
    ],
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, field: str, name: str, words: str) -> None:
    """Absolute paths, `..`, links, pipes and URLs are rejected before anything is read."""
    import os

    folder = tmp_path / "set"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    value = f'["{name}"]' if field in ("images", "files") else f'"{name}"'
    asked = "" if field == "prompt_file" else 'prompt = "Hello!"\n'
    path = folder / "set.toml"
    path.write_text(f'models = ["a/b"]\n[[cases]]\nid = "one"\n{asked}{field} = {value}\n')
    with pytest.raises(SetError, match=rf"^set\.toml, line \d: cases\[0\]\.{field}.* \(case 'one'\): .*{words}"):
        load_set(path)


def test_a_link_inside_the_folder_is_fine(tmp_path: Path) -> None:
    """Only where it leads counts."""
    (tmp_path / "a.txt").write_text("Hello!")
    (tmp_path / "b.txt").symlink_to("a.txt")
    (tmp_path / "set.toml").write_text('models = ["a/b"]\n[[cases]]\nid = "one"\nprompt_file = "b.txt"\n')
    assert load_set(tmp_path / "set.toml").trials[0].body["messages"] == [{"role": "user", "content": "Hello!"}]


def test_an_image_is_recognized_by_its_content(load: Load, tmp_path: Path) -> None:
    """A web page with the name of an image is not sent as one."""
    (tmp_path / "page.png").write_text("<html>")
    with pytest.raises(SetError, match=r"images\[0\] \(case 'one'\): 'page\.png' is not a PNG, JPEG"):
        load('models = ["a/b"]\n[[cases]]\nid = "one"\nprompt = "x"\nimages = ["page.png"]\n')
