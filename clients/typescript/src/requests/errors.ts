// The API's error responses as a typed error.

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;
  /** The response came from Signalbox, not from a proxy. */
  readonly isOurs: boolean;
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;

  /** `status` 0 means that Signalbox did not respond. `retryAfter` is in seconds. */
  constructor(
    status: number,
    code: string,
    message: string,
    field?: string,
    retryAfter?: number,
    isOurs = status >= 400,
    requestId?: string,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
    this.isOurs = isOurs;
    this.requestId = requestId;
  }
}

/** Whether Signalbox rejected the request. After any other error, the outcome is unknown. */
export const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status >= 400 && error.isOurs;

/** The server cannot be reached. If the request was sent, its outcome is unknown. */
export const unreachable = (): ApiError => new ApiError(0, "SERVER_UNREACHABLE", "Signalbox is not responding.");

/** A captive portal responded, or the response headers broke off. The outcome is unknown. */
export const foreign = (): ApiError =>
  new ApiError(0, "FOREIGN_ANSWER", "A proxy or network login page responded instead of Signalbox.");

/** Read `{error: {code, message, field?}}`. Other bodies, such as a proxy's page, get a general message. */
export async function readApiError(response: Response): Promise<ApiError> {
  const retryAfter = response.headers.get("retry-after") ?? "";
  // Retry-After can also be a date, but on another clock.
  const wait = /^\d+(\.\d+)?$/.test(retryAfter) ? Number(retryAfter) : undefined;
  let error: unknown;
  try {
    error = ((await response.json()) as { error?: unknown } | null)?.error;
  } catch {
    error = undefined;
  }
  const { code, message, field } = (error ?? {}) as Record<string, unknown>;
  return new ApiError(
    response.status,
    typeof code === "string" ? code : `HTTP_${response.status}`,
    typeof message === "string" && message ? message : `The server responded with status ${response.status}.`,
    typeof field === "string" ? field : undefined,
    wait,
    // Codes of other servers are numbers or in lower case.
    typeof code === "string" && /^[A-Z]/.test(code) && typeof message === "string",
    response.headers.get("x-request-id") ?? undefined,
  );
}
