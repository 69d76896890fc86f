"""Any request is answered or rejected in the API's format, never an exception of the simulator."""

import json
from random import Random

import pytest
from signalbox.simulator.build_completion import build_completion
from signalbox.simulator.native.gemini.errors import GeminiError
from signalbox.simulator.native.gemini.request import parse
from signalbox.simulator.native.gemini.write import write
from signalbox.simulator.native.prompt_cache import PromptCache

from tests.unit.simulator.native.gemini.conversation import Json, asked, results, user
from tests.unit.simulator.native.mutations import VALUES, Path, mutated, paths

CALL = {"name": "search_web", "args": {"query": "x"}, "id": "a"}
TURN = {
    "role": "model",
    "parts": [
        {"text": "Hm.", "thought": True},
        {"functionCall": CALL, "thoughtSignature": "skip_thought_signature_validator"},
    ],
}
BODY = asked(
    user(),
    TURN,
    results(CALL),
    {"role": "user", "parts": [{"text": "more"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
    systemInstruction={"parts": [{"text": "Be brief."}]},
    toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["search_web"]}},
    generationConfig={
        "temperature": 1,
        "maxOutputTokens": 100,
        "stopSequences": ["x"],
        "responseMimeType": "application/json",
        "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
        "responseModalities": ["TEXT"],
        "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 10},
    },
)
MODELS = ("sim", "gemini-2.5-flash", "sim-parallel", "sim-steps-2")


def is_answered(model: str, body: Json) -> bool:
    """Return whether a request is answered; other exceptions than the API's errors pass through."""
    try:
        accepted = parse(model, body, stream=True, version="v1beta")
    except GeminiError as error:
        return not json.dumps(error.body)
    return bool(write(build_completion(accepted.incoming, 1), accepted, PromptCache()).frames)


@pytest.mark.parametrize("path", list(paths(BODY)), ids=lambda path: ".".join(map(str, path)))
def test_one_mutation(path: Path) -> None:
    """Each value is removed, and replaced by values of every type."""
    for value in VALUES:
        is_answered("sim", mutated(BODY, path, value))


def test_several_mutations() -> None:
    """Random combinations of two mutations; some are answered."""
    rng = Random(26)
    places = list(paths(BODY))
    answered = 0
    for _ in range(300):
        first, second = sorted(rng.sample(places, 2), key=len)
        if second[: len(first)] == first or first[:-1] == second[:-1]:
            continue
        body = mutated(mutated(BODY, second, rng.choice(VALUES)), first, rng.choice(VALUES))
        answered += is_answered(rng.choice(MODELS), body)
    assert answered > 0
