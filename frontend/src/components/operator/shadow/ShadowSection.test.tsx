// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ShadowSection } from "./ShadowSection.tsx";

const OFF = {
  percent: 0,
  daily_cost: 1,
  cost_today: 0,
  cost: 0,
  counts: { running: 0, same: 0, expected: 0, unexpected: 0, failed: 0 },
  newest: [] as object[],
};
const ENDING = { kind: "ending", expected: false, why: null, legacy: "complete", v2: "error" };
const RUN = {
  run_id: "run/1",
  at: 1_795_849_331,
  model: "openai/gpt-5-mini",
  loop: "v2",
  outcome: "unexpected",
  cost: 0.5,
  differences: [
    ENDING,
    { ...ENDING, kind: "text", legacy: null, v2: null },
    { ...ENDING, kind: "cost", expected: true, why: "fewer steps", legacy: "1", v2: "2" },
  ],
};

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open(report: object, status = 200) {
  vi.stubGlobal("fetch", async () => Response.json(report, { status }));
  render(<ShadowSection />);
  expect(screen.getByText("Loading…")).toBeTruthy();
  return (await screen.findByRole(status === 200 ? "status" : "alert")).textContent?.trim();
}

describe("the section of shadow mode", () => {
  it("says that it is off, and how to switch it on", async () => {
    expect(await open(OFF)).toBe("Shadow mode is off.");
    expect(screen.getByText("SIGNALBOX_SHADOW_PERCENT")).toBeTruthy();
    expect(screen.queryByText("Results of the last 30 days")).toBeNull();
  });

  it("shows the share, the cost, the results, and the runs with unexpected differences", async () => {
    const counts = { running: 1, same: 412, expected: 37, unexpected: 1, failed: 0 };
    const words = await open({ ...OFF, percent: 5, cost_today: 0.25, cost: 6.2, counts, newest: [RUN] });
    expect(words).toBe("Shadow mode is on. 5% of the complete runs are made again on the other loop.");
    expect(screen.getByText("$0.2500 of $1.00")).toBeTruthy();
    expect(screen.getByText("$6.20")).toBeTruthy();
    expect(
      screen.getByRole("img", {
        name: "No difference: 412, Differences with a known reason: 37, Unexpected differences: 1, Under way: 1",
      }),
    ).toBeTruthy();
    const runs = within(screen.getByRole("region", { name: "Unexpected differences" }));
    expect(runs.getByRole("link", { name: "openai/gpt-5-mini" }).getAttribute("href")).toBe("/#run=run%2F1");
    expect(runs.getByText("Ending: legacy complete, v2 error")).toBeTruthy();
    expect(runs.getByText("Text of the answer")).toBeTruthy();
    expect(runs.getByText("Cost: legacy 1, v2 2 (expected: fewer steps)")).toBeTruthy();
  });

  it("says that today's budget is used, and that no run was made again yet", async () => {
    expect(await open({ ...OFF, percent: 5, cost_today: 1 })).toBe(
      "Shadow mode has used today's $1.00. It continues at 00:00 UTC.",
    );
    expect(screen.getByText("No run was made again yet.")).toBeTruthy();
  });

  it("says why the server refuses", async () => {
    const message = "This needs the operator token.";
    expect(await open({ error: { code: "UNAUTHORIZED", message } }, 403)).toBe(`${message} Retrying every 10 seconds.`);
    expect(screen.queryByText("Loading…")).toBeNull();
  });
});
