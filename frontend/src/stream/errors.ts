// What the API says before a run exists, as a typed error.

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;
  /** Signalbox itself has said so, and no proxy on the way to it. */
  readonly isOurs: boolean;

  /** `status` 0: no answer of Signalbox came at all. `retryAfter` is in seconds. */
  constructor(
    status: number,
    code: string,
    message: string,
    field?: string,
    retryAfter?: number,
    isOurs = status >= 400,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
    this.isOurs = isOurs;
  }
}

/** Signalbox has answered, and refused. After every other error the outcome of the request is unknown. */
export const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status >= 400 && error.isOurs;

/** The server cannot be reached: nothing was sent, or its outcome is unknown. */
export const unreachable = (): ApiError => new ApiError(0, "SERVER_UNREACHABLE", "Signalbox is not responding.");

/** A captive portal's page, or a head that broke off: it is unknown whether the request arrived. */
export const foreign = (): ApiError =>
  new ApiError(0, "FOREIGN_ANSWER", "A proxy or network login page responded instead of Signalbox.");

/** Read `{error: {code, message, field?}}`; what is not of that shape (a proxy's page) gets another sentence. */
export async function readApiError(response: Response): Promise<ApiError> {
  const retryAfter = response.headers.get("retry-after") ?? "";
  // The other form of it is a date, by another clock than ours.
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
    typeof code === "string" && typeof message === "string",
  );
}
