import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { captured, capturedFrames, capturedRecord, clientOf } from "../fixtures/record.ts";
import { Answer } from "./answer/answer.ts";
import { type ApiClient, InspectedRun, restoredSettings } from "./inspectedRun.ts";

const RUN = capturedRecord.runId;
type Reply = () => Response | Promise<Response>;

/** A server that responds by the end of the path and counts requests. */
function server(replies: { record?: Reply; events?: Reply; tools?: Reply }) {
  const asked: string[] = [];
  const client = clientOf((path) => {
    const kind = path.includes("/events") ? "events" : path.includes("/tools") ? "tools" : "record";
    asked.push(kind);
    const reply = replies[kind];
    return reply
      ? reply()
      : Response.json({ error: { code: "NO_RUN", message: "There is no such run." } }, { status: 404 });
  });
  return { client, asked };
}

const now = vi.fn(() => 0);
const deps = { now, schedule: (run: () => void) => run() };
const stream =
  (text: string): Reply =>
  () =>
    new Response(text, { headers: { "content-type": "text/event-stream" } });
const runningRecord = { ...captured.record, status: "running", ended: null };

let stop: (() => void) | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  now.mockImplementation(() => Date.now());
});
afterEach(() => {
  stop?.();
  vi.useRealTimers();
});

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
const begin = (inspection: InspectedRun): InspectedRun => {
  stop = inspection.start();
  return inspection;
};

describe("a run that the page does not have", () => {
  it("is fetched: its events and its record", async () => {
    const { client, asked } = server({
      record: () => Response.json(captured.record),
      events: stream(capturedFrames()),
    });
    const inspection = begin(new InspectedRun(client, RUN, undefined, deps));
    expect(inspection.state).toMatchObject({ eventsAre: "fetching", recordIs: "asked" });
    await settle(500);
    expect(inspection.state).toMatchObject({ eventsAre: "here", recordIs: "known", record: capturedRecord });
    expect(inspection.state.events).toEqual(captured.events);
    expect(inspection.state.trace?.end?.status).toBe("complete");
    await settle(60_000);
    expect(asked.toSorted()).toEqual(["events", "record"]);
  });

  it("is complete if the journal has events in between that no stream of the contract has", async () => {
    const frames = capturedFrames().replaceAll(/:(\d+)\n\n/g, (_, seq) => `:${Number(seq) * 3}\n\n`);
    const { client } = server({ record: () => Response.json(captured.record), events: stream(frames) });
    const { state } = await begun(client);
    expect(state.eventsAre).toBe("here");
    expect(state.events).toEqual(captured.events.map(({ seq, event }) => ({ seq: seq * 3, event })));
  });

  it("reports that the server no longer has it", async () => {
    const { client } = server({});
    const { state } = await begun(client);
    expect(state).toMatchObject({ eventsAre: "failed", recordIs: "gone", trouble: undefined });
  });

  it("retries on request", async () => {
    let works = false;
    const broken = () => Response.json({ error: { code: "X", message: "Out of order." } }, { status: 500 });
    const { client } = server({
      record: () => (works ? Response.json(captured.record) : broken()),
      events: stream(capturedFrames()),
    });
    const inspection = await begun(client);
    expect(inspection.state).toMatchObject({ recordIs: "failed", trouble: "Out of order." });
    works = true;
    inspection.retry();
    await settle(300);
    expect(inspection.state).toMatchObject({ recordIs: "known", trouble: undefined });
  });

  async function begun(client: ApiClient) {
    const inspection = begin(new InspectedRun(client, RUN, undefined, deps));
    await settle(500);
    return inspection;
  }
});

describe("a run that the page follows", () => {
  /** An answer whose events the test pushes. */
  function followed() {
    let push: (text: string) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        push = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
    });
    const headers = { "content-type": "text/event-stream" };
    const events = () => new Response(body, { headers });
    const replies = { record: () => Response.json(runningRecord) as Response, events };
    const { client, asked } = server(replies);
    const answer = Answer.named({ client, schedule: deps.schedule, now }, RUN);
    void answer.load();
    return { answer, asked, client, push: (text: string) => push(text), replies };
  }

  it("is shown as it grows, without a second stream, and its record is polled slowly", async () => {
    const { answer, asked, client, push } = followed();
    await settle();
    push(capturedFrames(0, 3));
    await settle(10);
    const inspection = begin(new InspectedRun(client, RUN, answer, deps));
    await settle(300);
    expect(inspection.state.events).toHaveLength(3);
    const seen = inspection.state.events;
    push(capturedFrames(3, 9));
    await settle(300);
    expect(inspection.state.events).toHaveLength(9);
    expect(seen).toHaveLength(3);
    expect(asked.filter((kind) => kind === "events")).toHaveLength(1);
    await settle(9000);
    expect(asked.filter((kind) => kind === "record")).toHaveLength(3);
  });

  it("has its record fetched when it ends", async () => {
    const { answer, asked, client, push, replies } = followed();
    const inspection = begin(new InspectedRun(client, RUN, answer, deps));
    await settle(300);
    replies.record = () => Response.json(captured.record);
    push(capturedFrames());
    await settle(600);
    expect(inspection.state.record?.status).toBe("complete");
    expect(inspection.state.trace?.end?.status).toBe("complete");
    const so = asked.length;
    await settle(60_000);
    expect(asked).toHaveLength(so);
  });

  it("estimates the server's clock from its events", async () => {
    const { answer, client, push } = followed();
    const inspection = begin(new InspectedRun(client, RUN, answer, deps));
    await settle();
    const last = captured.events[2]?.event.ts as number;
    now.mockImplementation(() => last + 3_600_000);
    push(capturedFrames(0, 3));
    await settle(300);
    expect(inspection.state.now).toBe(last);
    now.mockImplementation(() => last + 3_600_000 + 500);
    await settle(300);
    expect(inspection.state.now).toBe(last + 500);
  });
});

describe("a cost that is estimated", () => {
  it("is fetched until it is settled, but not forever", async () => {
    let record: Record<string, unknown> = { ...captured.record, cost_estimated: true };
    const { client, asked } = server({ record: () => Response.json(record), events: stream(capturedFrames()) });
    const inspection = begin(new InspectedRun(client, RUN, undefined, deps));
    await settle(20_000);
    expect(asked.filter((kind) => kind === "record")).toHaveLength(2);
    record = { ...captured.record, settled_at: 1795258800 };
    await settle(15_000);
    expect(inspection.state.record?.settledAt).toBe(1795258800000);
    const so = asked.length;
    await settle(300_000);
    expect(asked).toHaveLength(so);
  });
});

describe("the settings of a run", () => {
  const offered = [{ name: "search_web" }, { name: "calculate" }, { name: "save_note" }];

  it("switch off the tools that were not offered", async () => {
    const { client } = server({ tools: () => Response.json({ tools: offered }) });
    expect((await restoredSettings(client, capturedRecord))?.toolsOff).toEqual(["save_note"]);
  });

  it("are not partly restored", async () => {
    expect(await restoredSettings(server({}).client, capturedRecord)).toBeUndefined();
    const { client, asked } = server({});
    expect(await restoredSettings(client, { ...capturedRecord, request: {} })).toMatchObject({ toolsOff: [] });
    expect(asked).toEqual([]);
  });
});
