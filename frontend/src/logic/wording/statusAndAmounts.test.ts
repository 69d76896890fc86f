import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { RunEnd, RunItem } from "../../types/models.ts";
import { emptyTrace } from "../trace/reducer.ts";
import { ADVICE, CALL_FAILURES, fixesOf, lossOf, WARNINGS } from "./advice.ts";
import { endingOf, isCut, isFailure, lineCost } from "./statusAndAmounts.ts";

const CONTRACT = readFileSync(new URL("../../../../docs/sse-contract.md", import.meta.url), "utf8");

/** The codes in a table of the contract, with whether a retry may help. */
function table(name: string): [code: string, again: string][] {
  const rows = CONTRACT.split(`<!-- table: ${name} -->`)[1]?.split("<!-- end -->")[0] ?? "";
  return [...rows.matchAll(/^\| `([A-Z_]+)` .*\| ([^|]+) \|$/gm)].map(([, code = "", again = ""]) => [
    code,
    again.trim(),
  ]);
}

describe("the contract's codes", () => {
  it.each([
    ["requests", ADVICE],
    ["endings", ADVICE],
    ["results", CALL_FAILURES],
    ["warnings", WARNINGS],
  ])("of %s all have words of ours", (name, words) => {
    const codes = table(name).map(([code]) => code);
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !(code in words))).toEqual([]);
  });

  it("can be retried only if a retry may help", () => {
    const wrong = table("endings").filter(([code, again]) => {
      return fixesOf({ status: "error", code }).includes("retry") !== (again === "may help");
    });
    expect(wrong).toEqual([]);
  });
});

describe("the buttons", () => {
  it.each<[Partial<RunEnd>, string[]]>([
    [{ code: "UPSTREAM_CREDITS" }, ["credits", "model"]],
    [{ code: "UNAUTHORIZED" }, ["token"]],
    [{ code: "RATE_LIMIT", retryable: true }, ["retry", "model"]],
    [{ code: "RATE_LIMIT", retryable: false }, ["model"]],
    [{ code: "UPSTREAM_REJECTED", retryable: true }, ["retry", "model"]],
    [{ code: "SOMETHING_NEW" }, ["retry", "model"]],
    [{ code: "SOMETHING_NEW", retryable: false }, ["model"]],
    [{ code: "CONNECTION_LOST", retryable: true, local: true }, ["retry"]],
    [{ code: "FOREIGN_ANSWER", local: true }, ["retry"]],
    [{}, ["retry", "model"]],
  ])("about %j", (end, fixes) => {
    expect(fixesOf({ status: "error", ...end })).toEqual(fixes);
  });
});

describe("what was lost and charged", () => {
  const text: RunItem = { kind: "content", id: "content-1", text: "Half", refusal: false, synthetic: false };
  it.each<[Partial<RunEnd>, readonly RunItem[], string]>([
    [{ code: "RATE_LIMIT" }, [], "Your message is saved. Nothing was charged."],
    [{ code: "UPSTREAM_TIMEOUT" }, [], "Your message is saved. The cost is not known yet."],
    [{ code: "UPSTREAM_OVERLOADED" }, [text], "The answer so far is saved. The cost is not known yet."],
    [{ code: "STREAM_CUT", cost: 0.0041 }, [text], "The answer so far is saved. It cost $0.0041."],
    [
      { code: "STREAM_CUT", cost: 0.0041, cost_estimated: true },
      [text],
      "The answer so far is saved. It cost at least $0.0041.",
    ],
    [{ code: "STREAM_CUT", cost: 0 }, [text], "The answer so far is saved. Nothing was charged."],
    [
      { code: "STREAM_CUT", cost: 1, simulated: true },
      [],
      "Your message is saved. It was simulated, so nothing was charged.",
    ],
  ])("%j", (end, items, words) => {
    expect(lossOf({ ...emptyTrace("m"), items }, { status: "error", ...end })).toBe(words);
  });

  it.each([
    [{ text: "x".repeat(1212), reasoning: "so" }, "The last 1,212 characters you saw were not saved."],
    [{ text: ".", reasoning: "" }, "The last character you saw was not saved."],
    [{ text: "", reasoning: "so" }, "The last part of the reasoning was not saved."],
  ])("a crash: %j", (unsaved, words) => {
    const end = { status: "interrupted", code: "SERVER_CRASH", simulated: true as const };
    expect(lossOf({ ...emptyTrace("m"), items: [text], unsaved }, end)).toMatch(words);
  });

  it("does not call an answer saved if the page does not know its end", () => {
    const end = { status: "interrupted", code: "CONNECTION_LOST", local: true as const };
    expect(lossOf({ ...emptyTrace("m"), items: [text] }, end)).not.toContain("saved");
    const unasked = { status: "error", code: "SERVER_UNREACHABLE", local: true as const };
    expect(lossOf(emptyTrace("m"), unasked)).toContain("Your message is still here.");
  });
});

describe("the cost beside a conversation", () => {
  it("is the paid cost, or what simulated answers would have cost", () => {
    expect(lineCost({ cost: 0.0086, paid: 0.0041 })).toBe("$0.0041");
    expect(lineCost({ cost: 0.0086, paid: 0 })).toBe("would cost $0.0086");
    expect(lineCost({ cost: 0, paid: 0 })).toBe("");
    expect(lineCost({ cost: undefined, paid: undefined })).toBe("");
  });
});

describe("an ending", () => {
  it("is no failure if a limit or a pause cut the answer", () => {
    expect(isCut({ status: "length", code: "LENGTH" })).toBe(true);
    expect(isCut({ status: "interrupted", code: "BUDGET_REACHED" })).toBe(true);
    expect(isCut({ status: "interrupted", code: "STREAM_CUT" })).toBe(false);
  });

  it.each([
    [{ status: "length" }, "cut", "Length limit reached"],
    [{ status: "length", code: "LENGTH" }, "cut", "Length limit reached"],
    [{ status: "length", code: "REASONING_LENGTH" }, "failed", "Length limit reached"],
    [{ status: "interrupted", code: "BUDGET_REACHED" }, "cut", "Cost limit reached"],
    [{ status: "interrupted", code: "BUDGET_EXHAUSTED" }, "cut", "Budget used up"],
    [{ status: "interrupted", code: "DETACHED_TIMEOUT" }, "cut", "No client connected"],
    [{ status: "interrupted", code: "TURN_PAUSED" }, "cut", "Paused by the provider"],
    [{ status: "interrupted", code: "RUN_TOO_LARGE" }, "cut", "Size limit reached"],
    [{ status: "interrupted", code: "STREAM_CUT" }, "failed", "Interrupted"],
  ])("of %j has one lamp and one name on every page", (end, lamp, label) => {
    expect(endingOf(end)).toEqual({ lamp, label });
    expect(isFailure(end)).toBe(true);
  });
});
