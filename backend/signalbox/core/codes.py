"""Every code that Signalbox sends, with its message, the suggested action and its HTTP status."""

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """A code in an error response, a warning, a tool result or a `done` event."""

    # Request errors, before a run exists: an HTTP status and `{error: {code, message, field?}}`.
    INVALID_JSON = "INVALID_JSON"
    INVALID_REQUEST = "INVALID_REQUEST"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    UNKNOWN_MODEL = "UNKNOWN_MODEL"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    UNKNOWN_RUN = "UNKNOWN_RUN"
    UNKNOWN_CONVERSATION = "UNKNOWN_CONVERSATION"
    UNKNOWN_MESSAGE = "UNKNOWN_MESSAGE"
    UNKNOWN_SAVE = "UNKNOWN_SAVE"
    UNKNOWN_FILE = "UNKNOWN_FILE"
    UNKNOWN_TOKEN = "UNKNOWN_TOKEN"  # noqa: S105 - a code
    TOKEN_REVOKED = "TOKEN_REVOKED"  # noqa: S105 - a code
    UNKNOWN_GROUP = "UNKNOWN_GROUP"
    UNKNOWN_WEBHOOK = "UNKNOWN_WEBHOOK"
    UNKNOWN_SESSION = "UNKNOWN_SESSION"
    FILE_CHANGED = "FILE_CHANGED"
    FILE_LIMIT = "FILE_LIMIT"
    KEY_REUSED = "KEY_REUSED"
    RUN_NOT_OVER = "RUN_NOT_OVER"
    RUN_IN_CONVERSATION = "RUN_IN_CONVERSATION"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    TOO_MUCH_AT_ONCE = "TOO_MUCH_AT_ONCE"
    TOO_MANY_RUNS = "TOO_MANY_RUNS"
    TOO_MANY_STREAMS = "TOO_MANY_STREAMS"
    TOO_MANY_QUESTIONS = "TOO_MANY_QUESTIONS"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    MODEL_NOT_ALLOWED = "MODEL_NOT_ALLOWED"
    TOOL_NOT_ALLOWED = "TOOL_NOT_ALLOWED"
    WORKER_SILENT = "WORKER_SILENT"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    UNAUTHORIZED = "UNAUTHORIZED"
    TOKENS_DIFFER = "TOKENS_DIFFER"
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED"
    ORIGIN_NOT_ALLOWED = "ORIGIN_NOT_ALLOWED"
    CSRF = "CSRF"
    SIGN_IN_FAILED = "SIGN_IN_FAILED"
    SIGN_IN_UNAVAILABLE = "SIGN_IN_UNAVAILABLE"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    SERVER_UNREACHABLE = "SERVER_UNREACHABLE"

    # Endings of runs other than complete and cancelled.
    UPSTREAM_AUTH = "UPSTREAM_AUTH"
    UPSTREAM_CREDITS = "UPSTREAM_CREDITS"
    UPSTREAM_FORBIDDEN = "UPSTREAM_FORBIDDEN"
    UPSTREAM_NOT_FOUND = "UPSTREAM_NOT_FOUND"
    UPSTREAM_NO_TOOLS = "UPSTREAM_NO_TOOLS"
    UPSTREAM_NO_IMAGES = "UPSTREAM_NO_IMAGES"
    UPSTREAM_NO_PARAMS = "UPSTREAM_NO_PARAMS"
    UPSTREAM_SIGNATURE = "UPSTREAM_SIGNATURE"
    UPSTREAM_REJECTED = "UPSTREAM_REJECTED"
    UPSTREAM_TOO_LARGE = "UPSTREAM_TOO_LARGE"
    CONTEXT_LENGTH_EXCEEDED = "CONTEXT_LENGTH_EXCEEDED"
    RATE_LIMIT = "RATE_LIMIT"
    UPSTREAM_OVERLOADED = "UPSTREAM_OVERLOADED"
    UPSTREAM_ERROR = "UPSTREAM_ERROR"
    UPSTREAM_TIMEOUT = "UPSTREAM_TIMEOUT"
    UPSTREAM_STALLED = "UPSTREAM_STALLED"
    UPSTREAM_UNREACHABLE = "UPSTREAM_UNREACHABLE"
    UPSTREAM_PROTOCOL = "UPSTREAM_PROTOCOL"
    STREAM_CUT = "STREAM_CUT"
    EMPTY_ANSWER = "EMPTY_ANSWER"
    MALFORMED_CALL = "MALFORMED_CALL"
    LENGTH = "LENGTH"
    REASONING_LENGTH = "REASONING_LENGTH"
    CONTENT_FILTER = "CONTENT_FILTER"
    TURN_PAUSED = "TURN_PAUSED"
    STOP_UNKNOWN = "STOP_UNKNOWN"
    DETACHED_TIMEOUT = "DETACHED_TIMEOUT"
    SERVER_SHUTDOWN = "SERVER_SHUTDOWN"
    SERVER_CRASH = "SERVER_CRASH"
    BUDGET_REACHED = "BUDGET_REACHED"
    RUN_TOO_LARGE = "RUN_TOO_LARGE"
    INTERNAL = "INTERNAL"

    # Failed tool results.
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    ARGUMENTS_CUT = "ARGUMENTS_CUT"
    TOOL_UNAVAILABLE = "TOOL_UNAVAILABLE"
    TOOL_FAILED = "TOOL_FAILED"
    TIMEOUT = "TIMEOUT"
    URL_NOT_FOUND_HERE = "URL_NOT_FOUND_HERE"
    TOOL_CLAMP = "TOOL_CLAMP"
    DENIED = "DENIED"
    SUPERSEDED = "SUPERSEDED"
    STEP_FAILED = "STEP_FAILED"
    CANCELLED = "CANCELLED"
    NOT_RECORDED = "NOT_RECORDED"

    # Warnings after which the run continues.
    FINAL_EMPTY = "FINAL_EMPTY"
    MAX_STEPS = "MAX_STEPS"
    TURN_LIMIT = "TURN_LIMIT"
    PARAM_DROPPED = "PARAM_DROPPED"
    FRAME_UNREADABLE = "FRAME_UNREADABLE"
    CONTEXT_TRIMMED = "CONTEXT_TRIMMED"
    TOOLS_DROPPED = "TOOLS_DROPPED"
    CONTENT_DROPPED = "CONTENT_DROPPED"
    OUTPUT_DROPPED = "OUTPUT_DROPPED"
    CREDIT_CLAMP = "CREDIT_CLAMP"
    MORE_ROOM = "MORE_ROOM"
    UPSTREAM_FALLBACK = "UPSTREAM_FALLBACK"


@dataclass(frozen=True, slots=True)
class CodeFact:
    """What a code means for the user: a sentence, what to do, and whether a retry may help."""

    sentence: str
    todo: str
    retryable: bool = False
    http: int = 400


# The result of a call that was executing when its run was interrupted. It does not say that the call was dropped:
# the model would make it again.
CUT_OFF = (
    "The run was interrupted while the tool was running: there is no result, "
    "and the tool may or may not have done its work."
)

CODES: dict[Code, CodeFact] = {
    Code.INVALID_JSON: CodeFact("The request body is not valid JSON.", "Send one JSON object in UTF-8."),
    Code.INVALID_REQUEST: CodeFact("A field of the request is not valid.", "Correct this and try again.", http=422),
    Code.UNKNOWN_FIELD: CodeFact(
        "The request has a field that does not exist.", "Remove or rename the field.", http=422
    ),
    Code.UNKNOWN_MODEL: CodeFact("The model list has no such model.", "Choose a model from GET /api/models.", http=422),
    Code.UNKNOWN_TOOL: CodeFact("There is no tool with that name.", "Use a name from GET /api/tools.", http=422),
    Code.UNKNOWN_RUN: CodeFact(
        "There is no run with that id.", "Start a new run; the old run may have been deleted.", http=404
    ),
    Code.UNKNOWN_CONVERSATION: CodeFact(
        "There is no conversation with that id.", "Use an id from GET /api/conversations.", http=404
    ),
    Code.UNKNOWN_MESSAGE: CodeFact(
        "The conversation has no such message.", "Use a message id from GET /api/conversations/ID.", http=422
    ),
    Code.UNKNOWN_SAVE: CodeFact("There is no saved answer with that id.", "Use an id from GET /api/saves.", http=404),
    Code.UNKNOWN_FILE: CodeFact(
        "This branch of the conversation has no such file or version.",
        "Use a path from GET /api/conversations/ID/files.",
        http=404,
    ),
    Code.UNKNOWN_TOKEN: CodeFact("There is no API token with that id.", "Use an id from GET /api/tokens.", http=404),
    Code.TOKEN_REVOKED: CodeFact("This token is revoked, which is final.", "Create a new token.", http=409),
    Code.UNKNOWN_GROUP: CodeFact("There is no group with that name.", "Use a name from GET /api/groups.", http=404),
    Code.UNKNOWN_WEBHOOK: CodeFact("There is no webhook with that id.", "Use an id from GET /api/webhooks.", http=404),
    Code.UNKNOWN_SESSION: CodeFact("There is no session with that id.", "Use an id from GET /api/sessions.", http=404),
    Code.FILE_CHANGED: CodeFact(
        "The file has a newer version.", "Read the newest version, then send the change with its number.", http=409
    ),
    Code.FILE_LIMIT: CodeFact(
        "A limit of the conversation's files is reached.", "Write less, or go on in a new conversation.", http=413
    ),
    Code.KEY_REUSED: CodeFact(
        "This Idempotency-Key was already used with a different body.", "Use a new key for a new question.", http=422
    ),
    Code.RUN_NOT_OVER: CodeFact("The run has not finished yet.", "Wait until it finishes, or stop it.", True, 409),
    Code.RUN_IN_CONVERSATION: CodeFact(
        "This run is an answer in a conversation.", "Delete the conversation; this deletes the run too.", http=409
    ),
    Code.STORE_UNAVAILABLE: CodeFact(
        "The database is not available right now.", "Try again in a moment. The server's log has the cause.", True, 503
    ),
    Code.BODY_TOO_LARGE: CodeFact(
        "The request body is too large.", "Send less, or raise SIGNALBOX_MAX_BODY_MB.", http=413
    ),
    Code.TOO_MUCH_AT_ONCE: CodeFact(
        "The server is receiving too much data at the same time.", "Try again in a moment.", retryable=True, http=503
    ),
    Code.TOO_MANY_RUNS: CodeFact("Too many runs are active.", "Try again in a moment.", retryable=True, http=503),
    Code.TOO_MANY_STREAMS: CodeFact("Too many streams are open.", "Close some, or try again in a moment.", True, 429),
    Code.TOO_MANY_QUESTIONS: CodeFact(
        "Too many questions in a short time.", "Wait for the number of seconds in Retry-After.", True, 429
    ),
    Code.BUDGET_EXHAUSTED: CodeFact("The budget is used up.", "Wait, or ask the operator for a higher one.", http=402),
    Code.MODEL_NOT_ALLOWED: CodeFact("You may not use this model.", "Choose another model.", http=403),
    Code.TOOL_NOT_ALLOWED: CodeFact("You may not use this tool.", "Leave out the tool.", http=403),
    Code.WORKER_SILENT: CodeFact("The worker of this run does not respond.", "Try again in a moment.", True, 503),
    Code.NOT_FOUND: CodeFact("There is nothing at this address.", "See /docs for the list of routes.", http=404),
    Code.METHOD_NOT_ALLOWED: CodeFact(
        "This address does not support that method.", "See /docs for the supported methods.", http=405
    ),
    Code.UNAUTHORIZED: CodeFact("An access token is required.", "Send Authorization: Bearer TOKEN.", http=401),
    Code.TOKENS_DIFFER: CodeFact(
        "The request has two different tokens.", "Send one of them, in Authorization or in x-api-key."
    ),
    Code.HOST_NOT_ALLOWED: CodeFact(
        "The Host header names a host that is not allowed.", "Add it to SIGNALBOX_ALLOWED_HOSTS.", http=403
    ),
    Code.ORIGIN_NOT_ALLOWED: CodeFact(
        "Requests from that web page are not allowed.", "Add its origin to SIGNALBOX_ALLOWED_ORIGINS.", http=403
    ),
    Code.CSRF: CodeFact(
        "The header x-csrf-token is missing or wrong.", "Send csrf_token of GET /api/session in x-csrf-token.", http=403
    ),
    Code.SIGN_IN_FAILED: CodeFact("The sign-in failed.", "Sign in again."),
    Code.SIGN_IN_UNAVAILABLE: CodeFact("The sign-in service does not answer.", "Try again in a moment.", True, 503),
    Code.SHUTTING_DOWN: CodeFact("The server is shutting down.", "Try again in a moment.", retryable=True, http=503),
    # Sent by the proxy in front of the workers (deploy/nginx.conf), with 500, 502, 503 or 504 as it saw it.
    Code.SERVER_UNREACHABLE: CodeFact(
        "Signalbox did not answer.",
        "Try again in a moment; a question without an Idempotency-Key may have started a run: see GET /api/runs.",
        retryable=True,
        http=502,
    ),
    Code.UPSTREAM_AUTH: CodeFact(
        "The upstream rejected the API key.", "Check the API key (on a server: OPENROUTER_API_KEY or upstreams.toml)."
    ),
    Code.UPSTREAM_CREDITS: CodeFact("The account has too little credit for this request.", "Add credit."),
    Code.UPSTREAM_FORBIDDEN: CodeFact(
        "The upstream refused this request.", "Check the key's permissions, or change the input."
    ),
    Code.UPSTREAM_NOT_FOUND: CodeFact(
        "The upstream has no endpoint for this request.",
        "Choose another model, or check the upstream's URL (on a server: OPENROUTER_BASE_URL or upstreams.toml).",
    ),
    Code.UPSTREAM_NO_TOOLS: CodeFact(
        "No provider of this model supports tools.", "Choose another model, or offer no tools (tools: [])."
    ),
    Code.UPSTREAM_NO_IMAGES: CodeFact("No provider of this model accepts images.", "Choose a model that reads images."),
    Code.UPSTREAM_NO_PARAMS: CodeFact(
        "No provider of this model supports all parameters of the request.",
        "Leave out parameters, or choose another model.",
    ),
    Code.UPSTREAM_SIGNATURE: CodeFact(
        "The provider rejected the reasoning of an earlier step.", "Try again; the conversation is unchanged.", True
    ),
    Code.UPSTREAM_REJECTED: CodeFact(
        "The upstream rejected the request.", "Change the request, or choose another model."
    ),
    Code.UPSTREAM_TOO_LARGE: CodeFact("The request is too large for the upstream.", "Send less."),
    Code.CONTEXT_LENGTH_EXCEEDED: CodeFact(
        "The conversation is too long for this model.",
        "Shorten it, offer fewer tools, or choose a model with a longer context.",
    ),
    Code.RATE_LIMIT: CodeFact("Too many requests in a short time.", "Wait, then try again.", retryable=True),
    Code.UPSTREAM_OVERLOADED: CodeFact("The provider is overloaded.", "Try again, or choose another model.", True),
    Code.UPSTREAM_ERROR: CodeFact("The provider returned an error.", "Try again, or choose another model.", True),
    Code.UPSTREAM_TIMEOUT: CodeFact("The provider took too long.", "Try again.", True),
    Code.UPSTREAM_STALLED: CodeFact(
        "The provider stopped sending.", "Try again; the text received so far is saved.", True
    ),
    Code.UPSTREAM_UNREACHABLE: CodeFact(
        "The upstream cannot be reached.",
        "Check the network and the upstream's URL (on a server: OPENROUTER_BASE_URL or upstreams.toml).",
        True,
    ),
    Code.UPSTREAM_PROTOCOL: CodeFact("The upstream sent a response that cannot be read.", "Try again.", True),
    Code.STREAM_CUT: CodeFact(
        "The answer broke off before it was complete.", "The text received so far is saved; try again.", True
    ),
    Code.EMPTY_ANSWER: CodeFact("The model returned an empty answer.", "Try again, or choose another model.", True),
    Code.MALFORMED_CALL: CodeFact(
        "The model made a tool call that cannot be read.", "Try again, or choose another model.", True
    ),
    Code.REASONING_LENGTH: CodeFact(
        "The model used up its length limit while reasoning, and gave no answer.",
        "Raise max_tokens, or ask for less reasoning.",
        True,
    ),
    Code.LENGTH: CodeFact("The answer reached its length limit.", "Continue the answer, or raise max_tokens."),
    Code.CONTENT_FILTER: CodeFact("The answer was withheld by a content filter.", "Rephrase the request."),
    Code.TURN_PAUSED: CodeFact("The provider paused the model before the answer was complete.", "Continue the answer."),
    Code.STOP_UNKNOWN: CodeFact(
        "The provider stopped for a reason that Signalbox does not know.",
        "Continue the answer. The text received so far is saved, and no tool with side effects was executed.",
    ),
    Code.DETACHED_TIMEOUT: CodeFact(
        "The answer was stopped because no client was connected for too long.", "Try again.", True
    ),
    Code.SERVER_CRASH: CodeFact(
        "The server stopped unexpectedly during this answer.",
        "Try again; the text received before the crash is saved.",
        True,
    ),
    Code.BUDGET_REACHED: CodeFact("The run reached its cost limit.", "Raise max_cost, or continue the answer."),
    Code.RUN_TOO_LARGE: CodeFact("The run has become too large to store.", "Ask for the rest in smaller pieces."),
    Code.SERVER_SHUTDOWN: CodeFact("The server was shut down during this answer.", "Try again.", True),
    Code.INTERNAL: CodeFact(
        "Signalbox had an internal error.",
        "Try again. To find the cause, search the log for the id of the run or request.",
        True,
        500,
    ),
    Code.INVALID_ARGUMENTS: CodeFact("The tool was called with invalid arguments.", "Correct the arguments."),
    Code.ARGUMENTS_CUT: CodeFact("The call was cut off before its arguments were complete.", "Make a shorter call."),
    Code.TOOL_UNAVAILABLE: CodeFact(
        "The tool is not set up on this server.", "See the reason in GET /api/tools.", http=422
    ),
    Code.TOOL_FAILED: CodeFact("The tool failed.", "Answer without the tool, or call it with other arguments."),
    Code.TIMEOUT: CodeFact("The tool took too long.", "Answer without the tool, or ask it for less.", True),
    Code.URL_NOT_FOUND_HERE: CodeFact(
        "The address was neither given by the user nor found in a result.",
        "Read an address from the user or from a result.",
    ),
    Code.TOOL_CLAMP: CodeFact("The limit of searches for one answer was reached.", "Answer from what was found."),
    Code.DENIED: CodeFact("The call was refused.", "The result says why."),
    Code.SUPERSEDED: CodeFact(
        "The model changed this call while writing it.", "Nothing to do: the next call replaces this one."
    ),
    Code.STEP_FAILED: CodeFact("The model's turn failed, so this call was dropped.", "Try again.", True),
    Code.CANCELLED: CodeFact("The run was stopped before the tool finished.", "Try again."),
    Code.NOT_RECORDED: CodeFact("The replayed journal has no such call.", "Nothing to do: a replay runs no tools."),
    Code.FINAL_EMPTY: CodeFact("The model gave no final answer.", "Read what the tools found, or try again."),
    Code.MAX_STEPS: CodeFact("The limit of model calls was reached.", "Raise max_steps to let the model continue."),
    Code.TURN_LIMIT: CodeFact(
        "The limit of model calls was reached while the model worked on files. The files of its last step are saved.",
        "Continue the answer to let the model work on.",
    ),
    Code.FRAME_UNREADABLE: CodeFact("A piece of the answer could not be read.", "Try again if something is missing."),
    Code.CONTEXT_TRIMMED: CodeFact(
        "The conversation is too long for this model, so its oldest parts were left out of this request.",
        "To send the whole conversation, choose a model with a longer context.",
    ),
    Code.TOOLS_DROPPED: CodeFact(
        "No provider of this model supports tools, so the model answers without tools.",
        "Choose a model that supports tools.",
    ),
    Code.CONTENT_DROPPED: CodeFact(
        "The model or its provider does not accept images, so they were left out.", "Choose a model that reads images."
    ),
    Code.OUTPUT_DROPPED: CodeFact(
        "An image or a source of the answer was left out: it exceeds a limit or cannot be read.",
        "Ask for less, or for smaller images.",
    ),
    Code.CREDIT_CLAMP: CodeFact("The account's credit is low, so a shorter answer was requested.", "Add credit."),
    Code.MORE_ROOM: CodeFact(
        "The model used up its length limit while reasoning, so it was asked again with a higher limit.",
        "Raise max_tokens to avoid the first attempt.",
    ),
    Code.UPSTREAM_FALLBACK: CodeFact(
        "The first upstream could not answer, so the same model was called at another one.",
        "Nothing to do; the operator sees the failing upstream in GET /api/upstreams.",
    ),
    Code.PARAM_DROPPED: CodeFact("A parameter was not sent because the provider rejects it.", "Remove the parameter."),
}
