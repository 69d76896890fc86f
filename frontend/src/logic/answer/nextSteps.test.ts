import { describe, expect, it } from "vitest";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { canContinue } from "../trace/canContinue.ts";
import { emptyTrace } from "../trace/reducer.ts";
import { ADVICE } from "../wording/advice.ts";
import { nextSteps } from "./nextSteps.ts";

const said: RunTrace = {
  ...emptyTrace("m"),
  runId: "r1",
  items: [{ kind: "content", id: "content-1", text: "Half", refusal: false, synthetic: false }],
};
const failed = (code: string, more: Partial<RunEnd> = {}): RunEnd => ({ status: "error", code, ...more });

describe("the sentence and the buttons", () => {
  const WORDS = { continue: /continue/i, retry: /retry/i } as const;

  it("agree for every code, with and without text to continue", () => {
    const wrong = Object.keys(ADVICE).flatMap((code) =>
      [true, false]
        .filter((goOn) => !goOn || canContinue(said, failed(code), said))
        .flatMap((goOn) => {
          const { sentence, fixes } = nextSteps(failed(code), goOn);
          const isSaid = WORDS.continue.test(sentence);
          return isSaid === fixes.includes("continue") && isSaid === goOn ? [] : [`${code} ${goOn}: ${sentence}`];
        }),
    );
    expect(wrong).toEqual([]);
  });

  it("never mention a retry without a button", () => {
    const wrong = Object.keys(ADVICE)
      .flatMap((code) => [true, false].map((goOn) => nextSteps(failed(code), goOn)))
      .filter(({ sentence, fixes }) => WORDS.retry.test(sentence) && !fixes.includes("retry"));
    expect(wrong).toEqual([]);
  });

  it.each<[RunEnd, string, string[]]>([
    [failed("STREAM_CUT"), "Continue the answer or retry.", ["continue", "retry"]],
    [failed("UPSTREAM_TIMEOUT"), "Continue the answer, retry or choose another model.", ["continue", "retry", "model"]],
    [failed("UPSTREAM_AUTH"), "Check OPENROUTER_API_KEY in the server's .env. Then continue the answer.", ["continue"]],
    [
      failed("RATE_LIMIT", { retry_after: 12 }),
      "Wait 12 seconds, then continue the answer.",
      ["continue", "retry", "model"],
    ],
    [failed("SOMETHING_NEW"), "Continue the answer, retry or choose another model.", ["continue", "retry", "model"]],
  ])("of %j, where there is text", (end, sentence, fixes) => {
    expect(nextSteps(end, true)).toEqual({ sentence, fixes });
  });

  it("offer a retry if there is nothing to continue", () => {
    expect(nextSteps(failed("LENGTH"), false)).toEqual({ sentence: "Retry.", fixes: ["retry"] });
    expect(nextSteps(failed("BUDGET_REACHED"), false)).toEqual({
      sentence: "Retry or choose another model.",
      fixes: ["retry", "model"],
    });
  });
});

describe("an answer", () => {
  it.each<[string, RunEnd, boolean]>([
    ["was cut", { status: "length", code: "LENGTH" }, true],
    ["is too long for its model", failed("CONTEXT_LENGTH_EXCEEDED"), false],
    ["was lost by this page alone", failed("CONNECTION_LOST", { local: true }), false],
    ["was stopped", { status: "cancelled", local: true }, true],
    ["is complete", { status: "complete" }, false],
  ])("that %s", (_, end, can) => {
    expect(canContinue(said, end, said)).toBe(can);
  });

  it.each(["MAX_STEPS", "TURN_LIMIT"])("that was continued to its end after %s cannot be continued again", (code) => {
    const limited: RunTrace = {
      ...said,
      items: [...said.items, { kind: "warning", id: "warning-1", message: "", code }],
    };
    expect(canContinue(limited, { status: "complete" }, limited)).toBe(true);
    expect(canContinue(limited, { status: "complete" }, said)).toBe(false);
  });
});
