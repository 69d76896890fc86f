import { createClient } from "@signalbox/client/requests";
import { expect, it } from "vitest";
import { SavedRuns } from "./savedRuns.ts";

const savedLine = (id: string, created: number) => ({
  id,
  run_id: `run-${id}`,
  title: id,
  created,
  status: "complete",
});

function setUp(...answers: [status: number, body: object][]) {
  const asked: string[] = [];
  const fetch = async (path: string | URL | Request, init: RequestInit = {}) => {
    asked.push(`${init.method ?? "GET"} ${path}`);
    const [status, body] = answers.shift() ?? [500, {}];
    return new Response(JSON.stringify(body), { status });
  };
  const store = new SavedRuns({ client: createClient({ fetch }), channel: null, schedule: (run) => run() });
  return { store, asked, ids: () => store.snapshot().lines.map(({ id }) => id) };
}

it("lists, pages and deletes", async () => {
  const { store, asked, ids } = setUp(
    [200, { saves: [savedLine("b", 2)], next: "n" }],
    [200, { saves: [savedLine("a", 1)], next: null }],
    [200, { deleted: true }],
  );
  await store.load();
  expect(store.state).toMatchObject({ state: "ready", hasMore: true });
  await store.more();
  expect(ids()).toEqual(["b", "a"]);
  expect(await store.remove("b")).toBe(true);
  expect(ids()).toEqual(["a"]);
  expect(asked).toEqual(["GET /api/saves?limit=50", "GET /api/saves?before=n&limit=100", "DELETE /api/saves/b"]);
});

it("undoes a failed deletion", async () => {
  const { store, ids } = setUp(
    [200, { saves: [savedLine("b", 2)] }],
    [503, { error: { message: "The disk is full." } }],
  );
  await store.load();
  expect(await store.remove("b")).toBe(false);
  expect(ids()).toEqual(["b"]);
  expect(store.state.trouble).toBe("Deleting failed. The disk is full.");
});

it("saves a run and shows it; a failure is thrown to the caller", async () => {
  const { store, asked } = setUp(
    [200, savedLine("c", 3)],
    [200, { saves: [savedLine("c", 3)] }],
    [409, { error: { message: "The run goes on." } }],
  );
  expect(await store.save("run-c", "Tokyo")).toMatchObject({ id: "c", runId: "run-c" });
  expect(asked).toEqual(["POST /api/saves", "GET /api/saves?limit=50"]);
  await expect(store.save("run-d")).rejects.toThrow("The run goes on.");
});
