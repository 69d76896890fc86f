// Files, reports of runs and costs against the real server and its simulator.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Conflict, type Files, InvalidRequest, NotFound, type RunFilter, Signalbox } from "../src/index.ts";
import { hasServer, type RealServer, startServer } from "./fixtures/real.ts";

const MODEL = "openai/sim";
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
const HOUR = 3_600_000;

let server: RealServer;
let client: Signalbox;
let runs: { product: string; talk: string; other: string };

beforeAll(async () => {
  if (!hasServer) return;
  server = await startServer({ SIGNALBOX_SIMULATOR_PACE: "0" });
  client = new Signalbox({ baseUrl: server.base });
  const product = await client.ask("What is 17 * 23?", { model: MODEL, tools: ["calculate"] });
  const talk = await client.ask("Hello, penguin!", { model: MODEL, conversation_id: "talk", tools: [] });
  const other = await client.ask("Hello!", { model: "anthropic/sim", tools: [] });
  runs = { product: product.runId, talk: talk.runId, other: other.runId };
}, 60_000);
afterAll(() => server?.stop());

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function filesOf(conversationId: string): Promise<Files> {
  await client.ask("Hello!", { model: "google/sim", conversation_id: conversationId, tools: [] });
  return client.conversations.files(conversationId);
}

describe.runIf(hasServer)("a file", () => {
  it("is written, read, deleted and restored; each change is a version", async () => {
    const files = await filesOf("changes");
    const path = "css/für alle.css";
    const written = await files.write(path, "a { content: 'é' }", { baseVersion: 0 });
    expect(written).toMatchObject({ path, version: 1, author: "person", mediaType: "text/css", isDeleted: false });
    expect(Math.abs(written.created - Date.now())).toBeLessThan(HOUR);
    expect((await files.write(path, new TextEncoder().encode("b {}"), { baseVersion: 1 })).version).toBe(2);
    expect((await files.delete(path)).isDeleted).toBe(true);
    expect(await files.list()).toEqual([]);
    expect((await files.restore(path, 1)).version).toBe(4);
    expect(await files.get(path)).toMatchObject({ version: 4, text: "a { content: 'é' }" });
    expect((await files.get(path, { version: 2 })).text).toBe("b {}");
    expect((await files.versions(path)).map(({ version, isDeleted }) => [version, isDeleted])).toEqual([
      [4, false],
      [3, true],
      [2, false],
      [1, false],
    ]);
    await files.write("dot.png", PNG);
    expect((await files.get("dot.png")).bytes).toEqual(PNG);
    expect((await files.list()).map(({ path, mediaType, versions }) => [path, mediaType, versions])).toEqual([
      [path, "text/css", 4],
      ["dot.png", "image/png", 1],
    ]);
    const archive = await files.archive();
    expect(await archive.slice(0, 2).text()).toBe("PK");
  });

  it("is not overwritten if it has a newer version", async () => {
    const files = await filesOf("conflicts");
    await files.write("a.txt", "one");
    await files.write("a.txt", "two");
    await expect(files.write("a.txt", "mine", { baseVersion: 1 })).rejects.toBeInstanceOf(Conflict);
    await expect(files.delete("a.txt", { baseVersion: 1 })).rejects.toMatchObject({ code: "FILE_CHANGED" });
    await expect(files.get("b.txt")).rejects.toBeInstanceOf(NotFound);
    await expect(files.write("CON", "console")).rejects.toBeInstanceOf(InvalidRequest);
    expect((await files.get("a.txt")).text).toBe("two");
  });

  it("belongs to a branch, which its last node selects", async () => {
    const asked = { model: "google/sim", conversation_id: "branches", tools: [] };
    const first = await client.ask("One", asked);
    await client.conversations.files("branches").write("a.txt", "one");
    await client.ask("Two", { ...asked, parent_id: null });
    expect(await client.conversations.files("branches").list()).toEqual([]);
    const old = client.conversations.files("branches", { nodeId: first.runId });
    expect((await old.list()).map(({ path }) => path)).toEqual(["a.txt"]);
    expect((await old.get("a.txt")).text).toBe("one");
    expect(await old.versions("a.txt")).toHaveLength(1);
    expect((await old.delete("a.txt")).version).toBe(2);
  });

  it.each(["", "..", "../other", "a//b", "/a", "a/."])("with the path %j reaches no other endpoint", async (path) => {
    const files = await filesOf("dots");
    for (const use of [files.get(path), files.delete(path), files.versions(path), files.write(path, "")])
      await expect(use).rejects.toMatchObject({
        code: "INVALID_REQUEST",
        message: expect.stringContaining("a part that is empty"),
      });
    expect((await client.conversations.get("dots")).id).toBe("dots");
  });
});

const names = (found: readonly { runId: string }[]): string[] =>
  found.flatMap(({ runId }) => Object.entries(runs).flatMap(([name, id]) => (id === runId ? [name] : [])));

describe.runIf(hasServer)("a filter", () => {
  it.each<[RunFilter, string[]]>([
    [{}, ["other", "talk", "product"]],
    [{ status: "complete" }, ["other", "talk", "product"]],
    [{ status: ["error", "cancelled"] }, []],
    [{ code: "UPSTREAM_TIMEOUT" }, []],
    [{ model: "anthropic/sim" }, ["other"]],
    [{ model: [MODEL, "anthropic/sim"], loop: ["v2", "legacy"] }, ["other", "talk", "product"]],
    [{ loop: "legacy" }, []],
    [{ protocol: "v1.1", tool: "calculate" }, ["product"]],
    [{ owner: "" }, ["other", "talk", "product"]],
    [{ q: "PENGUIN" }, ["talk"]],
    [{ since: new Date(Date.now() - HOUR), until: Date.now() + HOUR }, ["other", "talk", "product"]],
    [{ since: Date.now() + HOUR }, []],
    [{ until: "2026-01-01" }, []],
  ])("%j selects the same runs in lists, exports and statistics", async (filter, wanted) => {
    const found = await all(client.runs.list(filter));
    expect(names(found)).toEqual(wanted);
    expect(await all(client.runs.export(filter))).toEqual(found);
    if (filter.since !== undefined || filter.until !== undefined) return;
    const { buckets } = await client.runs.stats(filter);
    expect(buckets.reduce((sum, bucket) => sum + bucket.runs, 0)).toBe(found.length);
  });

  it("that the server rejects is a typed error", async () => {
    for (const use of [all(client.runs.list({ since: "yesterday" })), all(client.runs.export({ since: "yesterday" }))])
      await expect(use).rejects.toMatchObject({ name: "InvalidRequest", field: "since" });
  });

  it("has statistics by time", async () => {
    const found = await client.runs.stats({ bucketSeconds: 86_400, model: [MODEL, "anthropic/sim"] });
    expect(found).toMatchObject({ bucketSeconds: 86_400, isAll: false });
    expect(Math.abs(found.until - Date.now())).toBeLessThan(HOUR);
    for (const { loop, durationMs, start, statuses, runs: count } of found.buckets) {
      expect([loop, statuses.complete]).toEqual(["v2", count]);
      expect(durationMs?.p95).toBeGreaterThanOrEqual(durationMs?.p50 ?? Number.NaN);
      expect(start % 86_400_000).toBe(0);
    }
  });

  it("selects runs with their conversation and the reason of their loop", async () => {
    const [talk] = await all(client.runs.list({ q: "penguin" }));
    expect(talk).toMatchObject({ conversationId: "talk", costEstimated: false, flag: { variant: "v2" } });
  });
});

describe.runIf(hasServer)("an export", () => {
  it("can be left, and aborted", async () => {
    for await (const { runId } of client.runs.export()) {
      expect(runId).not.toBe("");
      break;
    }
    const abort = new AbortController();
    abort.abort(new Error("enough"));
    await expect(all(client.runs.export({ signal: abort.signal }))).rejects.toThrow("enough");
  });
});

describe.runIf(hasServer)("spend", () => {
  it("is the cost of the runs, by day, model or owner", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const cost = (await all(client.runs.list())).reduce((sum, run) => sum + (run.cost ?? 0), 0);
    const byDay = await client.spend();
    expect(byDay).toMatchObject({ groupBy: "day", lastDay: today, isAll: false });
    expect(byDay.total.cost).toBeCloseTo(cost, 8);
    const { rows, firstDay } = await client.spend({ groupBy: "model", from: new Date(), to: today });
    expect(firstDay).toBe(today);
    expect(rows.find(({ key }) => key === MODEL)).toMatchObject({ runs: 2, name: undefined, estimatedRuns: 0 });
    expect((await client.spend({ from: "2020-01-01", to: "2020-12-31" })).rows).toEqual([]);
    expect(await client.spendCsv({ groupBy: "model" })).toMatch(/^model,name,runs,cost/);
  });
});
