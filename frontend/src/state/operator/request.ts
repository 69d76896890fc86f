// Requests of the operator page, and readers for the fields of JSON responses.
import { connect } from "../server/server.ts";
import { runToken } from "../server/session.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Send a request, with a JSON body if there is one. Throws ApiError. */
export async function send(method: string, path: string, body?: object): Promise<Response> {
  const json = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return connect(runToken).request(path, { method, ...json });
}

export const sendJson = async (method: string, path: string, body?: object): Promise<Json> =>
  (await (await send(method, path, body)).json()) as Json;

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const fields = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(fields) : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const number = (value: unknown): number => known(value) ?? 0;
export const known = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
/** Epoch milliseconds. The API's times are in seconds. */
export const time = (value: unknown): number | undefined => (typeof value === "number" ? value * 1000 : undefined);
export const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(text) : []);
