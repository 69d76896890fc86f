// Reads JSON responses. Missing or invalid fields get default values.
import { ApiError, unreachable } from "./errors.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The fields of an object. Empty for other values. */
export const fields = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Convert the API's epoch seconds to milliseconds. */
export const time = (value: unknown): number | undefined => {
  const seconds = number(value);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
};

/** Why the server chose the loop of a run. */
export function parseFlag(value: unknown): { variant: string; reason: string } | undefined {
  const { variant, reason } = fields(value);
  return text(variant) ? { variant: text(variant), reason: text(reason) } : undefined;
}

export const unreadable = (): ApiError => new ApiError(200, "BAD_ANSWER", "The server sent an unreadable response.");

/** Read a JSON object. Throws ApiError for other bodies, such as a proxy's page. */
export async function readBody(response: Response): Promise<Json> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Json;
  throw unreadable();
}

/** Read the JSON objects of an NDJSON response while they arrive. Throws if it ends within a line. */
export async function* jsonLines(response: Response): AsyncGenerator<Json> {
  const isLines = response.headers.get("content-type")?.startsWith("application/x-ndjson");
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    if (!isLines || !reader) throw unreadable();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield fields(parsed(line));
    }
    if (rest) throw unreachable();
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unreadable();
  }
}
