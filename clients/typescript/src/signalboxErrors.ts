// The errors of the class Signalbox. Each has a code, and a message that says what happened and what to do.
import type { Answer } from "./answers.ts";
import { ApiError } from "./requests/errors.ts";

interface ErrorFacts {
  retryable?: boolean;
  retryAfter?: number | undefined;
}

/** The base of all errors of this package. */
export class SignalboxError extends Error {
  override readonly name: string = "SignalboxError";
  readonly code: string;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  /** In seconds. */
  readonly retryAfter: number | undefined;

  constructor(code: string, message: string, { retryable = false, retryAfter }: ErrorFacts = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfter = retryAfter;
  }
}

/** The server could not be reached, or the connection broke, too many times in a row. */
export class ConnectionLost extends SignalboxError {
  override readonly name = "ConnectionLost";

  constructor(message: string, cause?: unknown) {
    const advice = "Check that the server is running, then try again; the server keeps the runs it has started.";
    super("CONNECTION_LOST", `${message}${reasonIn(cause)}. ${advice}`, { retryable: true });
    this.cause = cause;
  }
}

/** Node has the reason, such as "connect ECONNREFUSED 127.0.0.1:8000", in the cause of the error of `fetch`. */
function reasonIn(cause: unknown): string {
  const { message = "", code = "" } = ((cause as Error | undefined)?.cause ?? {}) as {
    message?: string;
    code?: string;
  };
  return message || code ? `: ${message || code}` : "";
}

/** The response is not one of Signalbox's. */
export class NotSignalbox extends SignalboxError {
  override readonly name = "NotSignalbox";

  constructor(message: string) {
    super("NOT_SIGNALBOX", message);
  }
}

/** The option `baseUrl` is not a URL of a server. */
export class InvalidBaseUrl extends SignalboxError {
  override readonly name = "InvalidBaseUrl";

  constructor(message: string) {
    super("INVALID_BASE_URL", message);
  }
}

/** The server rejected a request. */
export class RequestRejected extends SignalboxError {
  override readonly name: string = "RequestRejected";
  /** The HTTP status. */
  readonly status: number;
  /** The path of the invalid field. */
  readonly field: string | undefined;
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;

  constructor({ status, code, message, field, retryAfter, requestId }: ApiError) {
    super(code, message, { retryable: isTemporary(status) || retryAfter !== undefined, retryAfter });
    this.status = status;
    this.field = field;
    this.requestId = requestId;
  }
}

/** 400, 413, 422: the request must be changed; see `field`. 402: the budget is used up. */
export class InvalidRequest extends RequestRejected {
  override readonly name = "InvalidRequest";
}

/** 401, 403: the token is missing, is wrong or does not allow the request, or the host or origin is not allowed. */
export class AccessDenied extends RequestRejected {
  override readonly name = "AccessDenied";
}

/** 404: the run, conversation, file or save does not exist, or belongs to another owner. */
export class NotFound extends RequestRejected {
  override readonly name = "NotFound";
}

/** 409: not possible in the present state, for example because the run has not finished. */
export class Conflict extends RequestRejected {
  override readonly name = "Conflict";
}

/** 429: a limit is reached; `retryAfter` says how long to wait. */
export class RateLimited extends RequestRejected {
  override readonly name = "RateLimited";
}

/** 5xx: the server cannot answer now. */
export class ServerError extends RequestRejected {
  override readonly name = "ServerError";
}

/** A run did not end as `complete`; `answer` contains the text so far. */
export class RunFailed extends SignalboxError {
  override readonly name = "RunFailed";
  readonly answer: Answer;
  readonly status: string;

  constructor(answer: Answer) {
    const { status, code = status.toUpperCase(), error, retryable, retry_after } = answer.done;
    // The warning before such an ending says what to do, too.
    const warning = answer.warnings.findLast((one) => one.code === code);
    const facts = { retryable: retryable === true, retryAfter: retry_after };
    super(code, warning?.message ?? error ?? `The run ended as ${status}.`, facts);
    this.answer = answer;
    this.status = status;
  }
}

const CLASSES: Readonly<Record<number, typeof RequestRejected>> = {
  401: AccessDenied,
  403: AccessDenied,
  404: NotFound,
  409: Conflict,
  429: RateLimited,
};

/** Whether a request with this status may succeed later. */
export const isTemporary = (status: number): boolean => [0, 408, 425, 429, 502, 503, 504].includes(status);

/** Convert the error of a request. Other errors, such as an abort, stay as they are. */
export function errorOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === "SERVER_UNREACHABLE") return new ConnectionLost(error.message.replace(/\.$/, ""), error.cause);
  if (error.status < 400) return new NotSignalbox(`${error.message} Check baseUrl.`);
  const Made = CLASSES[error.status] ?? (error.status >= 500 ? ServerError : InvalidRequest);
  return new Made(error);
}
