// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Operator } from "../../../state/operator/operator.ts";
import { writeAdminToken } from "../../../state/server/session.ts";
import { RolloutSection } from "./RolloutSection.tsx";

const TALLY = { runs: 100, error: 4, interrupted: 0, empty: 0, first_token_ms: 250, cost: 0.002 };
const PLAN = {
  id: "p1",
  mode: "guard",
  stages: [
    { percent: 5, minutes: 60, runs: 200 },
    { percent: 50, minutes: 60, runs: 200 },
  ],
  holdback: 10,
  state: "running",
  stage: 2,
  percent: 50,
  watched: false,
  started: 1_795_840_000,
  stage_started: 1_795_846_512,
};
const entry = (id: number, action: string, details: object = {}) => ({
  id,
  at: 1_795_846_512 + id,
  actor: "guard",
  action,
  details,
});

const FIGURES = (failed: string) => [
  "Runs: 100",
  `Failed: ${failed}`,
  "Interrupted: 0",
  "Empty: 0",
  "First token (mean): 250 ms",
];

const server = {
  plan: null as object | null,
  watch: null as object | null,
  hasStage: false,
  entries: [] as ReturnType<typeof entry>[],
  sent: [] as [string, unknown][],
  refusal: "",
  flag: { state: "on", percent: null, environment: null, effective: "" } as Record<string, unknown>,
};

const state = () => ({
  plan: server.plan,
  assessment: server.plan ? "V2 is not worse so far." : "There is no rollout plan.",
  report: server.plan && {
    assessment: "",
    evidence: 1.5,
    threshold: 200,
    watch: server.watch,
    figures: {
      "10m": { v2: TALLY, legacy: { ...TALLY, error: 0, cost: null } },
      ...(server.hasStage && { stage: { v2: TALLY, legacy: TALLY } }),
    },
  },
});

async function answer(path: string, { method = "GET", body }: RequestInit = {}): Promise<Response> {
  const url = new URL(path, "http://x.invalid");
  if (url.pathname.endsWith("/audit")) {
    const before = Number(url.searchParams.get("before") ?? 1000);
    const entries = server.entries.filter(({ id }) => id < before).slice(0, 1);
    return Response.json({ entries, next: entries[0] && entries[0].id > 1 ? entries[0].id : null });
  }
  if (url.pathname === "/api/runs") return Response.json({ runs: [], next: null, all_owners: true });
  if (url.pathname === "/api/upstreams") return Response.json({ upstreams: [] });
  if (method !== "GET") server.sent.push([method, body ? JSON.parse(String(body)) : undefined]);
  if (method !== "GET" && server.refusal) {
    return Response.json({ error: { code: "INVALID_REQUEST", message: server.refusal } }, { status: 422 });
  }
  if (url.pathname.startsWith("/api/flags")) {
    // The flag ends a rollout with a guard.
    if (method === "PUT" && server.plan) server.plan = { ...server.plan, state: "overridden" };
    return Response.json(server.flag);
  }
  if (method === "PUT") server.plan = PLAN;
  if (method === "DELETE") server.plan = { ...PLAN, state: "ended" };
  return Response.json(state());
}

beforeEach(() => {
  Object.assign(server, { plan: null, watch: null, hasStage: false, entries: [], sent: [], refusal: "" });
  server.flag = { state: "on", percent: null, environment: null, effective: "" };
  writeAdminToken("right");
  vi.stubGlobal("fetch", answer);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open() {
  const operator = new Operator();
  await operator.load();
  render(<RolloutSection operator={operator} />);
  await screen.findByRole("status");
  return userEvent.setup();
}

describe("the rollout", () => {
  it("shows the current stage, the sentence of the guard, and the figures of both loops", async () => {
    server.plan = PLAN;
    await open();
    expect(screen.getByRole("status").textContent).toBe("V2 is not worse so far.");
    const [first, second] = within(screen.getByRole("list", { name: "Stages" })).getAllByRole("listitem");
    expect([first?.getAttribute("aria-current"), second?.getAttribute("aria-current")]).toEqual([null, "step"]);
    expect(second?.textContent).toContain("50%");
    const rows = screen.getAllByRole("row").slice(1);
    expect(
      rows.map((row) =>
        within(row)
          .getAllByRole("cell")
          .map(({ textContent }) => textContent),
      ),
    ).toEqual([
      ["Last 10 minutes", "v2", ...FIGURES("4 (4%)"), expect.stringContaining("$")],
      ["Last 10 minutes", "legacy", ...FIGURES("0"), "Cost (mean): –"],
    ]);
  });

  it("starts a rollout with the stages of the form, and ends it", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Start rollout" }));
    await user.click(screen.getByRole("button", { name: "Remove stage 2" }));
    await user.click(screen.getByRole("button", { name: "Start" }));
    const stage = (percent: number) => ({ percent, minutes: 60, runs: 200 });
    await vi.waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(server.sent).toEqual([["PUT", { mode: "guard", holdback: 10, stages: [stage(5), stage(50), stage(100)] }]]);
    await user.click(await screen.findByRole("button", { name: "End rollout" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByText(/^V2 stays at 50%/)).toBeTruthy();
    expect(server.sent).toHaveLength(1);
    await user.click(dialog.getByRole("button", { name: "End rollout" }));
    expect(await screen.findByText("Ended by an operator")).toBeTruthy();
    expect(server.sent.at(-1)).toEqual(["DELETE", undefined]);
  });

  it("takes V2 back at the end", async () => {
    server.plan = PLAN;
    const user = await open();
    await user.click(screen.getByRole("button", { name: "End rollout" }));
    await user.click(await screen.findByRole("button", { name: "Take V2 back" }));
    expect(await screen.findByText("Overridden by an operator")).toBeTruthy();
    expect(server.sent).toEqual([["PUT", { state: "off" }]]);
    await vi.waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("says why V2 was not taken back", async () => {
    server.plan = PLAN;
    server.refusal = "The store is read-only.";
    const user = await open();
    await user.click(screen.getByRole("button", { name: "End rollout" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.queryByRole("alert")).toBeNull();
    await user.click(dialog.getByRole("button", { name: "Take V2 back" }));
    expect((await dialog.findByRole("alert")).textContent).toBe(`Not changed. ${server.refusal}`);
  });

  it("says what a start changes", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Start rollout" }));
    expect(screen.getByText("Now: V2 for everyone (100%). Starting sets V2 to 5%.")).toBeTruthy();
    await user.selectOptions(screen.getByLabelText("Mode"), "Observe");
    expect(screen.getByText("Now: V2 for everyone (100%). Starting does not change this.")).toBeTruthy();
  });

  it("observes the percentage of the flag, without stages", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Start rollout" }));
    await user.selectOptions(screen.getByLabelText("Mode"), screen.getByRole("option", { name: /^Observe/ }));
    expect(screen.queryByLabelText("Percent")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Start" }));
    await vi.waitFor(() => expect(server.sent).toEqual([["PUT", { mode: "observe" }]]));
  });

  it("shows only the figures of the stage after the end", async () => {
    server.plan = { ...PLAN, state: "rolled_back" };
    server.hasStage = true;
    await open();
    const rows = screen.getAllByRole("row").slice(1);
    expect(rows.map((row) => within(row).getAllByRole("cell")[0]?.textContent)).toEqual(["This stage", "This stage"]);
  });

  it("accepts fractions of minutes", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Start rollout" }));
    const [minutes] = screen.getAllByLabelText<HTMLInputElement>("Minutes");
    if (!minutes) throw new Error("There are no stages.");
    await user.clear(minutes);
    await user.type(minutes, "0.5");
    expect(minutes.validity.valid).toBe(true);
    await user.click(screen.getByRole("button", { name: "Start" }));
    await vi.waitFor(() => expect(server.sent).toHaveLength(1));
    expect(server.sent[0]?.[1]).toMatchObject({
      stages: expect.arrayContaining([{ percent: 5, minutes: 0.5, runs: 200 }]),
    });
  });

  it("shows the watch after the last stage, and stops it", async () => {
    server.plan = { ...PLAN, state: "finished", watched: true };
    server.watch = { evidence: 2.5, threshold: 1000 };
    const user = await open();
    expect(screen.getByText(/^Evidence/).textContent).toBe(
      "Evidence that V2 has become worse: 2.50. At 1,000, the rollout steps back.",
    );
    await user.click(screen.getByRole("button", { name: "Stop watching" }));
    await vi.waitFor(() => expect(server.sent).toEqual([["DELETE", undefined]]));
    await vi.waitFor(() => expect(screen.queryByRole("button", { name: "Stop watching" })).toBeNull());
  });

  it("keeps the form open with the server's reason if the plan is refused", async () => {
    server.refusal = "needs stages with rising percentages";
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Start rollout" }));
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect((await screen.findByRole("alert")).textContent).toBe(server.refusal);
  });

  it("lists the audit trail with its figures, and loads older entries", async () => {
    server.entries = [entry(2, "rollout.rolled_back", { percent: 0, figures: { v2: 3 } }), entry(1, "flag.set")];
    const user = await open();
    const [rolledBack] = await screen.findAllByText("Rollout rolled back");
    expect(rolledBack?.closest("li")?.textContent).toMatch(/by guard.*percent: 0.*All details.*"v2": 3/s);
    await user.click(screen.getByRole("button", { name: "Load older entries" }));
    expect(await screen.findByText("Flag set")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Load older entries" })).toBeNull();
  });
});
