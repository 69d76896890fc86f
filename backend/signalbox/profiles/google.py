"""Google's Gemini and Gemma models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(
    family="google",
    vendors=("google",),
    names=("gemini", "gemma"),
    # "Function calling with a response mime type: 'application/json' is unsupported" (python-genai#867, camel#2873).
    json_with_tools=False,
    # "Unknown name \"additionalProperties\"": one unknown keyword rejects the request (CLIProxyAPI#97, forgecode#3426).
    plain_schemas=True,
    # "function call turn comes immediately after a user turn or after a function response turn" (OmniRoute#13573).
    user_first=True,
    # AI Studio rejects Vertex' signatures with "Corrupted thought signature", and vice versa. OpenRouter routes each
    # request anew, so later steps of a tool loop name the provider that began it (ai-sdk-provider#491: an A/B matrix).
    provider_slugs={
        "Google": "google-vertex",
        "Google Vertex": "google-vertex",
        "Google AI Studio": "google-ai-studio",
    },
)
