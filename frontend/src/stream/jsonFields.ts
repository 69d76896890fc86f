// The body of an answer, and its fields as what they should be: what is missing or of another kind has a plain value.
import { ApiError } from "./errors.ts";

export type Json = Readonly<Record<string, unknown>>;

/** An object's fields; of what is none, no fields. */
export const fields = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Epoch seconds, as the API tells them, to milliseconds. */
export const time = (value: unknown): number | undefined => {
  const seconds = number(value);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
};

export const unreadable = (): ApiError => new ApiError(200, "BAD_ANSWER", "The server sent an unreadable response.");

/** Throws ApiError for a body that is no JSON object: a proxy's page is no answer of ours. */
export async function readBody(response: Response): Promise<Json> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Json;
  throw unreadable();
}
