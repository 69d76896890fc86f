import { describe, expect, it } from "vitest";
import { createClient } from "../src/requests/client.ts";
import { fetchRun, parseRecord } from "../src/requests/runRecords.ts";
import captured from "./fixtures/record.json" with { type: "json" };

// biome-ignore lint/suspicious/noExplicitAny: what it holds is what is tested.
const told = captured.record as any;

describe("a run's record", () => {
  it("is read completely, with times in milliseconds", () => {
    const record = parseRecord(told);
    expect(record).toMatchObject({
      runId: told.run_id,
      status: "complete",
      loop: "v2",
      protocol: "v1.1",
      costEstimated: false,
    });
    expect(record.flag).toEqual(told.flag);
    expect(record.startedAt).toBe(Math.round(told.started * 1000));
    expect(record.endedAt).toBe(Math.round(told.ended * 1000));
    expect(record.request).toEqual(told.request);
    expect(record.attempts).toHaveLength(told.attempts.length);
    const [failed, retried] = record.attempts;
    expect(failed).toMatchObject({ step: 1, number: 1, code: "RATE_LIMIT", usage: undefined, firstPartAt: undefined });
    expect(retried).toMatchObject({ step: 1, number: 2, error: undefined, streamed: true, provider: "Alibaba" });
    expect(retried?.firstPartAt).toBe(Math.round(told.attempts[1].first_part * 1000));
    expect(retried?.usage).toEqual(told.attempts[1].usage);
    expect(retried?.raw).toEqual(told.attempts[1]);
  });

  it("separates the requests of tools", () => {
    const record = parseRecord({ attempts: [{ step: 1 }, { step: 1, tool_call: "c1" }, { step: 2 }] });
    expect(record.attempts.map(({ step }) => step)).toEqual([1, 2]);
    expect(record.toolAttempts.map(({ toolCall }) => toolCall)).toEqual(["c1"]);
  });

  it("describes the outcome of a stopped attempt", () => {
    const attempt = (cancelled: unknown) => parseRecord({ attempts: [{ cancelled }] }).attempts[0]?.cancelled;
    expect([attempt(true), attempt(false), attempt(null)]).toEqual(["cut off by the provider", "complete", undefined]);
  });

  it("accepts any shape", () => {
    for (const odd of [undefined, null, 3, "x", [], {}, { attempts: [null, 1, { usage: "x", tools: [1] }], flag: 1 }])
      expect(parseRecord(odd)).toMatchObject({
        status: "running",
        endedAt: undefined,
        cost: undefined,
        flag: undefined,
      });
  });

  it("is requested by its id", async () => {
    const asked: string[] = [];
    const fetch = async (url: RequestInfo | URL) => {
      asked.push(String(url));
      return Response.json(told);
    };
    const record = await fetchRun(createClient({ fetch }), "a/b");
    expect(asked).toEqual(["/api/runs/a%2Fb"]);
    expect(record.runId).toBe("a/b");
  });

  it("throws the server's error", async () => {
    const fetch = async () => Response.json({ error: { code: "NO_RUN", message: "No." } }, { status: 404 });
    await expect(fetchRun(createClient({ fetch }), "x")).rejects.toMatchObject({ status: 404, code: "NO_RUN" });
  });
});
