// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Chart } from "../../../logic/pages/runStats.ts";
import { Place } from "../../../state/operator/place.ts";
import { ChartsSection } from "./ChartsSection.tsx";

const drawn: string[] = [];
// jsdom has no canvas.
vi.mock("./draw.ts", () => ({ drawChart: (_: HTMLElement, { title }: Chart) => void drawn.push(title) }));

const BUCKET = {
  start: 3600,
  loop: "v2",
  runs: 3,
  statuses: { complete: 2, error: 1 },
  at_limit: 0,
  first_token_ms: { p50: 120, p95: 400 },
  duration_ms: { p50: 1500, p95: 3000 },
};

const server = { asked: [] as string[], buckets: [] as object[], refusal: "" };

beforeEach(() => {
  Object.assign(server, { asked: [], buckets: [BUCKET], refusal: "" });
  drawn.length = 0;
  history.replaceState(null, "", "/operator#charts");
  vi.stubGlobal("fetch", async (path: string) => {
    server.asked.push(new URL(path, "http://x.invalid").search);
    if (server.refusal) return Response.json({ error: { code: "X", message: server.refusal } }, { status: 422 });
    return Response.json({ since: 0, until: 7200, bucket_seconds: 3600, buckets: server.buckets });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = () => render(<ChartsSection place={new Place()} isAll isOwn={false} />);

describe("the charts", () => {
  it("draws outcomes and latency, and has the same values as tables", async () => {
    open();
    const chart = within(await screen.findByRole("figure", { name: "Outcomes of loop v2" }));
    await vi.waitFor(() =>
      expect(drawn.toSorted()).toEqual(["Duration", "Outcomes of loop v2", "Time to first token"]),
    );
    const cells = chart.getAllByRole("cell", { hidden: true }).map(({ textContent }) => textContent);
    expect(cells).toEqual(["2", "0", "1", "0"]);
    const legacy = within(screen.getByRole("figure", { name: "Outcomes of loop legacy" }));
    expect(legacy.getByText("No values in this time.")).toBeTruthy();
  });

  it("asks for the time of the address, with buckets that fit", async () => {
    open();
    await screen.findByRole("figure", { name: "Duration" });
    await userEvent.selectOptions(screen.getByRole("combobox", { name: "Time" }), "Last 30 days");
    await vi.waitFor(() => expect(server.asked.at(-1)).toMatch(/since=\d+&bucket=86400$/));
    expect(server.asked[0]).toBe("?bucket=3600");
    expect(location.search).toBe("?period=30d");
  });

  it("says that there are no runs, or why the server refuses", async () => {
    server.buckets = [];
    open();
    expect(await screen.findByText("No runs in this time.")).toBeTruthy();
    server.refusal = "Send a larger bucket.";
    await userEvent.selectOptions(screen.getByRole("combobox", { name: "Time" }), "Last hour");
    expect((await screen.findByRole("alert")).textContent).toBe(server.refusal);
  });
});
