// @vitest-environment jsdom
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { captured, capturedFrames, capturedRecord, clientOf } from "../../fixtures/record.ts";
import { Answer } from "../../state/answer/answer.ts";
import RunInspectorDrawer from "./RunInspectorDrawer.tsx";

const RUN = capturedRecord.runId;
const TOOLS = ["search_web", "calculate", "save_note"].map((name) => ({ name, available: true }));

const missing = () => Response.json({ error: { code: "NO_RUN", message: "There is no such run." } }, { status: 404 });

const stream = (body: BodyInit) => new Response(body, { headers: { "content-type": "text/event-stream" } });
const server = ({ known = true, events = () => stream(capturedFrames()) } = {}) =>
  clientOf((url) => {
    if (url.endsWith("/api/tools")) return Response.json({ tools: TOOLS });
    if (!known) return missing();
    return url.includes("/events") ? events() : Response.json(captured.record);
  });

/** jsdom has no layout, so the list of events and its rows get fixed heights. */
class Sizes implements ResizeObserver {
  readonly #tell: ResizeObserverCallback;
  constructor(tell: ResizeObserverCallback) {
    this.#tell = tell;
  }
  observe(target: Element): void {
    const contentRect = { width: 400, height: target.hasAttribute("aria-label") ? 600 : 28 };
    queueMicrotask(() => this.#tell([{ target, contentRect } as unknown as ResizeObserverEntry], this));
  }
  unobserve(): void {}
  disconnect(): void {}
}

const saved = vi.hoisted(() => vi.fn());
vi.mock("../../state/download.ts", () => ({ saveFile: saved }));

let wide = true;
beforeAll(() => {
  vi.stubGlobal("ResizeObserver", Sizes);
  vi.stubGlobal("matchMedia", () => ({ matches: wide, addEventListener() {}, removeEventListener() {} }));
  Object.defineProperty(HTMLElement.prototype, "offsetParent", { get: () => document.body });
});
beforeEach(() => {
  wide = true;
  saved.mockClear();
});
afterEach(cleanup);

const rows = () => [...document.querySelectorAll<HTMLElement>('[data-part="row"]')];
const labels = () => rows().map((row) => row.textContent?.replace(/^(done|failed|running): /, "") ?? "");

async function open(props: Partial<Parameters<typeof RunInspectorDrawer>[0]> = {}): Promise<UserEvent> {
  const user = userEvent.setup();
  const given = {
    client: server(),
    runId: RUN,
    title: "Leases",
    live: undefined,
    onClose: vi.fn(),
    onUse: vi.fn(),
    parts: [],
    onPart: vi.fn(),
  };
  render(<RunInspectorDrawer {...given} {...props} />);
  if (!("client" in props) && !("live" in props)) await waitFor(() => expect(rows()).toHaveLength(8));
  return user;
}

describe("the inspector", () => {
  it("shows the facts, and every attempt, reasoning, tool call and text of the run", async () => {
    await open();
    expect(screen.getByRole("complementary", { name: "Run details" }).dataset.part).toBe("inspector");
    expect(document.querySelector('[data-part="standing"]')?.textContent).toBe(
      "Complete qwen/sim-quirk-f01 2.1 s would cost $0.0002 simulated ",
    );
    const facts = [...document.querySelectorAll("dt")].map((dt) => `${dt.textContent}: ${dt.nextSibling?.textContent}`);
    expect(facts).toContain("Loop: v2, set by the operator");
    expect(facts).toContain("Protocol: v1.1");
    expect(facts).toContain("Reasoning tokens: 65 38%");
    expect(labels()).toEqual([
      "Step 1RATE_LIMIT3 ms",
      "Step 1retry 1540 ms",
      "Reasoning367 ms",
      "Search webleases1 ms",
      "Calculatehidden17 * 230 ms",
      "Step 2" + "1.2 s",
      "Reasoning265 ms",
      "Answer915 ms",
    ]);
  });

  it("opens a row with its input, its result and its events", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: /Calculate/ }));
    const detail = screen.getByRole("region", { name: "Calculate, details" });
    expect(within(detail).getByRole("region", { name: "Input" }).textContent).toContain('"17 * 23"');
    expect(within(detail).getByRole("region", { name: "Result" }).textContent).toContain("391");
    await user.click(within(detail).getByRole("button", { name: "Show 3 raw events" }));
    const raw = detail.querySelector('[data-part="raw"]')?.textContent?.split("\n") ?? [];
    expect(raw.map((line) => JSON.parse(line.replace(/^\d+ /, "")).type)).toEqual([
      "tool_calls",
      "tool_executing",
      "tool_result",
    ]);
    await user.click(screen.getByRole("button", { name: /Calculate/ }));
    expect(screen.queryByRole("region", { name: "Calculate, details" })).toBeNull();
  });

  it("shows a failed attempt with its error", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: /RATE_LIMIT/ }));
    const detail = screen.getByRole("region", { name: "Step 1, details" });
    expect(detail.textContent).toContain("Too many requests in a short time.");
    expect(within(detail).getAllByText("unknown").length).toBeGreaterThan(0);
  });

  it("cuts long values until they are expanded", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: /Step 2/ }));
    const result = screen.getByRole("region", { name: "Raw data" });
    const before = result.querySelector("pre")?.textContent ?? "";
    await user.click(within(result).getByRole("button", { name: /^Show all/ }));
    const after = result.querySelector("pre")?.textContent ?? "";
    expect(before).toHaveLength(601);
    expect(JSON.parse(after)).toEqual(capturedRecord.attempts[2]?.raw);
  });

  it("is navigated with the arrow keys", async () => {
    const user = await open();
    const [first, , third] = rows();
    expect(rows().filter((row) => row.tabIndex === 0)).toEqual([first]);
    first?.focus();
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(document.activeElement).toBe(third);
    expect(screen.getByRole("region", { name: "Reasoning, details" })).toBeTruthy();
    await user.keyboard("{End}");
    expect(document.activeElement).toBe(rows().at(-1));
    await user.keyboard("{ArrowDown}{Home}{ArrowUp}");
    expect(document.activeElement).toBe(first);
  });

  it("shows each request as it was sent", async () => {
    const user = await open();
    await user.click(screen.getByRole("tab", { name: "Request" }));
    const asked = screen.getByRole("region", { name: "Request to Signalbox" }).querySelector("pre")?.textContent ?? "";
    expect(JSON.parse(asked)).toEqual(captured.record.request);
    expect(screen.getAllByRole("heading", { level: 3 }).map((heading) => heading.textContent)).toEqual([
      "Step 1",
      "Step 1 · retry 1",
      "Step 2",
    ]);
  });
});

describe("the events", () => {
  const lines = () => [...document.querySelectorAll('[data-part="event"]')];
  const copied = async () => (await navigator.clipboard.readText()).split("\n").map((line) => JSON.parse(line));

  async function events() {
    const user = await open();
    await user.click(screen.getByRole("tab", { name: "Events" }));
    await waitFor(() => expect(lines().length).toBeGreaterThan(5));
    return user;
  }

  it("are all listed, with deltas grouped or separate", async () => {
    const user = await events();
    expect(screen.getByText("128 events")).toBeTruthy();
    expect(lines()).toHaveLength(10);
    await user.click(screen.getByRole("checkbox", { name: "Group deltas" }));
    await waitFor(() => expect(lines().length).toBeGreaterThan(10));
    // Only visible rows are rendered.
    expect(lines().length).toBeLessThan(60);
  });

  it("are filtered by text and by type, and copied as shown", async () => {
    const user = await events();
    await user.type(screen.getByRole("searchbox", { name: "Filter events" }), "391");
    await user.selectOptions(screen.getByRole("combobox", { name: "Event type" }), "tool_result");
    expect(screen.getByText("1 of 128 events")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Copy these events" }));
    expect(await copied()).toEqual([
      captured.events.find(({ event }) => event.type === "tool_result" && JSON.stringify(event).includes("391"))?.event,
    ]);
    await user.type(screen.getByRole("searchbox", { name: "Filter events" }), "nothing like it");
    expect(screen.getByText("No events match this filter.")).toBeTruthy();
  });

  it("open one by one, and are copied one by one", async () => {
    const user = await events();
    const last = lines().at(-1) as HTMLElement;
    await user.click(within(last).getByRole("button"));
    await user.click(within(last).getByRole("button", { name: "Copy event 128" }));
    expect(JSON.parse(await navigator.clipboard.readText())).toEqual(captured.events.at(-1)?.event);
  });
});

describe("what is known", () => {
  const whole = { schema: 1, run: { id: RUN, title: "Leases" }, events: captured.events };

  it("is copied and exported whole", async () => {
    const user = await open();
    await user.click(screen.getByRole("button", { name: "Copy as JSON" }));
    const copied = JSON.parse(await navigator.clipboard.readText());
    expect(copied).toMatchObject(whole);
    expect(copied.record.attempts).toHaveLength(3);
    await user.click(screen.getByRole("button", { name: "Export" }));
    const [name, type, text] = saved.mock.calls[0] ?? [];
    expect([name, type]).toEqual([`signalbox-run-${RUN}.json`, "application/json"]);
    expect(JSON.parse(text)).toEqual(copied);
  });

  it("is used for the next message if one can be sent", async () => {
    const onUse = vi.fn();
    const user = await open({ onUse });
    await user.click(screen.getByRole("button", { name: "Use these settings" }));
    await waitFor(() =>
      expect(onUse).toHaveBeenCalledWith({
        model: "qwen/sim-quirk-f01",
        effort: "high",
        parameters: { temperature: 0.4 },
        toolsOff: ["save_note"],
        toolChoice: "",
        format: { kind: "", schema: "" },
      }),
    );
    cleanup();
    await open({ onUse: undefined });
    expect(screen.queryByRole("button", { name: "Use these settings" })).toBeNull();
  });

  it("is limited if the server no longer has the run, with a notice", async () => {
    await open({ client: server({ known: false }) });
    await screen.findByText(/This run is no longer on the server/);
    expect(screen.getByText("Nothing to show yet.")).toBeTruthy();
  });
});

describe("an answer under way", () => {
  it("grows row by row from the page's events", async () => {
    let push: (text: string) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        push = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
    });
    const fetched = vi.fn();
    const live = Answer.named({ client: server({ events: () => stream(body) }), schedule: (run) => run() }, RUN);
    void live.load();
    await waitFor(() => expect(live.state.known).toBe("fetching"));
    push(capturedFrames(0, 3));
    await waitFor(() => expect(live.state.known).toBe("whole"));
    const record = { ...captured.record, status: "running", ended: null, attempts: [] };
    const client = clientOf((url) => {
      fetched(url);
      return Response.json(record);
    });
    await open({ client, live });
    await waitFor(() => expect(labels().map((label) => label.replace(/[\d.]+ (ms|s)$/, ""))).toEqual(["Reasoning"]));
    push(capturedFrames(3, 34));
    await waitFor(() => expect(rows()).toHaveLength(3));
    expect(document.querySelector('[data-part="standing"]')?.textContent).toMatch(/^Running/);
    push(capturedFrames(34));
    await waitFor(() => expect(document.querySelector('[data-part="standing"]')?.textContent).toMatch(/^Complete/));
    expect(fetched.mock.calls.every(([url]) => url === `/api/runs/${RUN}`)).toBe(true);
  });
});

describe("in a narrow window", () => {
  it("is a sheet that Escape closes", async () => {
    wide = false;
    const onClose = vi.fn();
    const user = await open({ onClose });
    const sheet = screen.getByRole("dialog", { name: "Run details" });
    expect(sheet.querySelector('[data-part="inspector"]')).toBeTruthy();
    await user.keyboard("{Escape}");
    expect(onClose).toHaveBeenCalled();
  });

  it("is closed by Escape beside the chat as well", async () => {
    const onClose = vi.fn();
    const user = await open({ onClose });
    expect(document.activeElement).toBe(screen.getByRole("complementary"));
    await user.keyboard("{Escape}");
    expect(onClose).toHaveBeenCalled();
  });
});
