import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../types/operator.ts";
import { ALL_CHANGES, actionText, auditParameters, detailsText, hasFigures } from "./audit.ts";

const entry = (details: AuditEntry["details"]): AuditEntry => ({
  id: 1,
  at: 0,
  actor: "operator",
  action: "",
  details,
});

describe("the audit log", () => {
  it("has actions as words", () => {
    expect(actionText("rollout.rolled_back")).toBe("Rollout rolled back");
  });

  it("says what something was before and after a change", () => {
    const expires = new Date("2026-12-31T12:00:00").getTime() / 1000;
    const changed = {
      budget_day: { from: 5, to: null },
      models: { from: null, to: ["a/*", "b"] },
      tools: { from: ["x"], to: [] },
      expires: { from: null, to: expires },
    };
    const changedToken = entry({ token: "t1", name: "Ada", changed });
    expect(detailsText(changedToken)).toBe(
      "token: t1 · name: Ada · budget day: 5 → not set · models: not set → a/*, b · tools: x → none · expires: not set → 2026-12-31",
    );
    expect(hasFigures(changedToken)).toBe(false);
  });

  it("omits values that are not set, and shows figures only as JSON", () => {
    const rolledBack = entry({ plan: "p1", percent: 0, group: null, figures: { v2: { runs: 3 } } });
    expect(detailsText(rolledBack)).toBe("percent: 0");
    expect(hasFigures(rolledBack)).toBe(true);
  });

  it("is filtered by several actions, an actor and a time", () => {
    expect(String(auditParameters(ALL_CHANGES, 0))).toBe("");
    const parameters = auditParameters({ topic: "webhooks", actor: "Ada", period: "1h" }, 7_200_000);
    expect(parameters.getAll("action")).toEqual([
      "webhook.created",
      "webhook.changed",
      "webhook.rotated",
      "webhook.deleted",
    ]);
    expect([parameters.get("actor"), parameters.get("since")]).toEqual(["Ada", "3600"]);
  });
});
