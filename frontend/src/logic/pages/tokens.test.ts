import { describe, expect, it } from "vitest";
import type { ApiToken } from "../../types/operator.ts";
import { limitFields, limitTexts, requestFields, tokenStatus } from "./tokens.ts";

const token = (more: Partial<ApiToken> = {}): ApiToken => ({
  id: "t1",
  name: "Ada",
  group: undefined,
  created: 0,
  expires: undefined,
  revoked: undefined,
  formerUntil: undefined,
  lastUsed: undefined,
  budgetDay: undefined,
  budgetMonth: undefined,
  rateLimit: undefined,
  maxRuns: undefined,
  models: undefined,
  tools: undefined,
  ...more,
});

describe("API tokens", () => {
  it("says whether a token is accepted", () => {
    const now = Date.parse("2026-11-28T12:00:00");
    const words = (more: Partial<ApiToken>) => tokenStatus(token(more), now).words;
    expect(words({})).toBe("Valid");
    expect(words({ expires: now + 86_400_000 })).toBe("Valid until 2026-11-29");
    expect(words({ expires: now })).toBe("Expired 2026-11-28");
    expect(words({ expires: now + 1, revoked: now })).toBe("Revoked 2026-11-28");
  });

  it("names the limits, also those that allow nothing", () => {
    expect(limitTexts(token())).toEqual([]);
    expect(limitTexts(token({ budgetDay: 2, maxRuns: 1, models: ["a/*", "b"], tools: [] }))).toEqual([
      expect.stringMatching(/^\$2.* per day$/),
      "1 run at once",
      "models a/*, b",
      "tools none",
    ]);
  });

  it("reads the fields of a form: an empty one removes the limit", () => {
    expect(
      requestFields({ name: " Ada ", group: "", budget_day: "0.5", max_runs: "", models: "a/*, b", tools: "none" }),
    ).toEqual({ name: "Ada", group: null, budget_day: 0.5, max_runs: null, models: ["a/*", "b"], tools: [] });
    expect(requestFields({ expires: "2026-11-28" })).toEqual({
      expires: new Date("2026-11-28T23:59:59").getTime() / 1000,
    });
  });

  it("fills a form so that saving it unchanged changes nothing", () => {
    const limits = token({ budgetMonth: 10, rateLimit: "1/minute", models: ["a/*", "b"], tools: [] });
    expect(requestFields(limitFields(limits))).toEqual({
      budget_day: null,
      budget_month: 10,
      rate_limit: "1/minute",
      max_runs: null,
      models: ["a/*", "b"],
      tools: [],
    });
  });
});
