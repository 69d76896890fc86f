// Recognizes responses of other servers.
import type { ApiError } from "./requests/errors.ts";
import { isTemporary, NotSignalbox } from "./signalboxErrors.ts";

/** Proxies in front of Signalbox respond with these, too. */
const isOfProxy = (status: number): boolean =>
  [401, 403, 413, 500].includes(status) || status > 501 || (status > 0 && isTemporary(status));

/**
 * Throws NotSignalbox after a redirect, a page, or an error without one of Signalbox's codes; and after Signalbox's error for
 * a path that does not exist, which is not that for a run that does not exist.
 */
export function checkServer(url: string, response: Response, error: ApiError | undefined): void {
  const isPage = /^text\/html/i.test(response.headers.get("content-type") ?? "");
  const isForeign = error ? !error.isOurs && !isOfProxy(error.status) : isPage;
  if (isForeign || error?.code === "NOT_FOUND") throw notSignalbox(url, response);
}

/** The error says what came instead. */
export function notSignalbox(url: string, { status, type, headers }: Response): NotSignalbox {
  const [target] = (headers.get("location") ?? "").split("?");
  const came =
    target || type === "opaqueredirect"
      ? `a redirect${target && ` to ${target}`}`
      : `HTTP ${status} with ${headers.get("content-type") ?? "no content type"}`;
  const hint = url.includes("/v1/api/") ? "baseUrl must not end in /v1." : "Check baseUrl.";
  return new NotSignalbox(`${url.split("?")[0]} did not answer as Signalbox does: ${came}. ${hint}`);
}
