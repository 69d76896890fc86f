// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SpendSection } from "./SpendSection.tsx";

// jsdom has no canvas.
vi.mock("../charts/draw.ts", () => ({ drawChart: () => () => undefined }));

const NO_LIMITS = { budget_day: null, budget_month: null, rate_limit: null, max_runs: null, models: null, tools: null };
const ADA = { id: "t1", name: "Ada", group: null, created: 0, expires: null, revoked: null, ...NO_LIMITS };
const TODAY = "2026-11-28";

/** The scripted server. */
const server = { asked: [] as URLSearchParams[], isEmpty: false, tokens: [] as object[], refusal: "" };

const amounts = (cost: number) => ({ runs: 3, cost, estimated: cost / 4, estimated_runs: 1 });
const ROWS: Record<string, readonly { key: string; name: string | null }[]> = {
  owner: [
    { key: "t1", name: "Ada" },
    { key: "", name: null },
  ],
  group: [{ key: "", name: null }],
  model: [{ key: "maker/model", name: null }],
  day: [{ key: TODAY, name: null }],
};

function spend(query: URLSearchParams): Response {
  server.asked.push(query);
  if (server.refusal) return Response.json({ error: { code: "X", message: server.refusal } }, { status: 403 });
  if (query.get("format") === "csv") return new Response("owner,name\n", { headers: { "content-type": "text/csv" } });
  const rows = server.isEmpty
    ? []
    : (ROWS[query.get("group_by") ?? ""] ?? []).map((row) => ({ ...row, ...amounts(1) }));
  return Response.json({
    first_day: query.get("from") ?? "2026-11-01",
    last_day: query.get("to") ?? TODAY,
    rows,
    total: amounts(rows.length),
  });
}

beforeEach(() => {
  Object.assign(server, { asked: [], isEmpty: false, tokens: [], refusal: "" });
  vi.stubGlobal("fetch", async (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://x.invalid");
    if (pathname === "/api/tokens") return Response.json({ tokens: server.tokens });
    if (pathname === "/api/groups") return Response.json({ groups: [] });
    return spend(searchParams);
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = () => {
  render(<SpendSection />);
  return userEvent.setup();
};
const texts = async (table: string) =>
  within(await screen.findByRole("table", { name: table }))
    .getAllByRole("row")
    .map((row) => row.textContent);

describe("the section of costs", () => {
  it("adds up by user, with the total and a chart by day", async () => {
    open();
    expect(screen.getAllByText("Loading…")).toHaveLength(2);
    expect(await texts("Costs")).toEqual([
      "UserRunsCostShareEstimated part",
      "Adat1Runs: 3Cost: $1.00Share: 50%Estimated part: $0.2500",
      "No API tokenRuns: 3Cost: $1.00Share: 50%Estimated part: $0.2500",
      "TotalRuns: 3Cost: $2.00Share: 100%Estimated part: $0.5000",
    ]);
    const chart = within(screen.getByRole("figure", { name: "Cost per day (UTC)" }));
    expect(chart.getByRole("row", { name: `${TODAY} $1.00`, hidden: true })).toBeTruthy();
  });

  it("asks for the chosen grouping and days, also as CSV", async () => {
    const blobs: Blob[] = [];
    URL.createObjectURL = (blob: Blob) => `blob:${blobs.push(blob)}`;
    URL.revokeObjectURL = () => undefined;
    const user = open();
    await user.selectOptions(screen.getByRole("combobox", { name: "Added up" }), "By model");
    await screen.findByText("maker/model");
    await user.selectOptions(screen.getByRole("combobox", { name: "Time" }), "From … to …");
    fireEvent.change(screen.getByLabelText("First day (UTC)"), { target: { value: "2026-01-05" } });
    await user.click(screen.getByRole("button", { name: "Download CSV" }));
    await vi.waitFor(() => expect(blobs.map(({ type }) => type)).toEqual(["text/csv"]));
    const asked = Object.fromEntries(server.asked.at(-1) ?? []);
    expect(asked).toMatchObject({ group_by: "model", from: "2026-01-05", format: "csv" });
  });

  it("shows what is left of the budgets of a day and of a month", async () => {
    server.tokens = [
      { ...ADA, budget_day: 5, budget_month: 0.5 },
      { ...ADA, id: "t2", name: "Grace" },
    ];
    open();
    expect(await texts("Budgets")).toEqual([
      "NameKindTodayThis month",
      "AdaTokenToday: $1.00 of $5.00 used · $4.00 leftThis month: $1.00 of $0.5000 used · nothing left",
    ]);
    expect(server.asked.some((query) => query.get("from") === TODAY && query.get("to") === TODAY)).toBe(true);
  });

  it("shows only one's own costs without the operator token", async () => {
    render(<SpendSection isOwn />);
    expect(await screen.findByText("maker/model")).toBeTruthy();
    expect(screen.getByText(/your own runs cost/)).toBeTruthy();
    const options = within(screen.getByRole("combobox", { name: "Added up" })).getAllByRole("option");
    expect(options.map(({ textContent }) => textContent)).toEqual(["By model", "By day"]);
    expect(screen.queryByRole("heading", { name: "Budgets" })).toBeNull();
  });

  it("says that there are no runs and no budgets", async () => {
    server.isEmpty = true;
    open();
    expect(await screen.findByText("No runs in this time.")).toBeTruthy();
    expect(await screen.findByText("No token and no group has a budget.")).toBeTruthy();
  });

  it("says why the server refuses", async () => {
    server.refusal = "The operator token is required.";
    const user = open();
    const alerts = await screen.findAllByText(server.refusal);
    expect(alerts).toHaveLength(2);
    await user.click(screen.getByRole("button", { name: "Download CSV" }));
    expect(await screen.findByText(`Not downloaded. ${server.refusal}`)).toBeTruthy();
  });
});
