// Checks of the option `baseUrl`, so that a mistake in it is found before the first request.
import { InvalidBaseUrl } from "./signalboxErrors.ts";

/** Throws InvalidBaseUrl. In a page, `baseUrl` may be relative or missing. */
export function checkBaseUrl(baseUrl: string | undefined): void {
  const isPage = typeof document !== "undefined";
  if (isPage && !baseUrl) return;
  const given = String(baseUrl ?? "");
  // In a page, "localhost:8000" would be a path.
  if (!/^https?:\/\//i.test(given) && (!isPage || /^[^/]*:/.test(given)))
    throw invalid(given, "it must begin with http:// or https://");
  if (/[?#]/.test(given)) throw invalid(given, "it must have no query (?) and no fragment (#)");
  const url = parsed(given, isPage ? document.baseURI : undefined);
  if (!url || url.port === "0")
    throw invalid(given, "its host or its port is invalid; a port is a number from 1 to 65535");
  if (/^https?:/i.test(given) && (url.username || url.password))
    throw invalid(given, "it must have no user name or password, because fetch rejects them");
}

function parsed(address: string, base: string | undefined): URL | undefined {
  try {
    return new URL(address, base);
  } catch {
    return undefined;
  }
}

function invalid(given: string, problem: string): InvalidBaseUrl {
  const shown = given.replace(/\/\/[^/]*@/, "//…@"); // no password
  const example = "A base URL looks like http://127.0.0.1:8000 or https://chat.example.com/signalbox.";
  return new InvalidBaseUrl(`baseUrl "${shown}" is invalid: ${problem}. ${example}`);
}
