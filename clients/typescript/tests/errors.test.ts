import { describe, expect, it } from "vitest";
import { ApiError, foreign, isRefusal, readApiError, unreachable } from "../src/requests/errors.ts";
import { unreadable } from "../src/requests/jsonFields.ts";

const OURS = '{"error":{"code":"STORE_UNAVAILABLE","message":"The disk is full."}}';

describe("a refusal", () => {
  it.each<[string, boolean, number, string]>([
    ["in our shape", true, 422, OURS],
    ["in our shape by a status that proxies use too", true, 502, OURS],
    ["that is a proxy's page", false, 502, "<html>Bad gateway</html>"],
    ["that is a proxy's page with a status of ours", false, 403, "<html>Forbidden</html>"],
    ["without words", false, 504, ""],
    ["with a code alone", false, 500, '{"error":{"code":"INTERNAL"}}'],
    ["with a sentence alone", false, 429, '{"error":{"message":"Slow down."}}'],
    ["in another shape", false, 400, '{"error":"no"}'],
    ["that is null", false, 500, "null"],
  ])("%s: %s", async (_, expected, status, body) => {
    expect(isRefusal(await readApiError(new Response(body, { status })))).toBe(expected);
  });

  it.each<[string, unknown, boolean]>([
    ["made by the page", new ApiError(422, "UNKNOWN_MODEL", "No."), true],
    ["no answer", unreachable(), false],
    ["somebody else's answer", foreign(), false],
    ["an answer that could not be read", unreadable(), false],
    ["a fault of the page", new TypeError("ours"), false],
    ["no error's status", new ApiError(304, "X", "No.", undefined, undefined, true), false],
    ["nothing", undefined, false],
  ])("%s", (_, error, expected) => {
    expect(isRefusal(error)).toBe(expected);
  });
});
