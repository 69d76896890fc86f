import { describe, expect, it } from "vitest";
import { createClient } from "../src/requests/client.ts";
import { fetchRuns } from "../src/requests/runList.ts";
import { errorResponse, serve } from "./fixtures/serve.ts";

describe("the list of runs", () => {
  it("reads valid runs and skips the rest", async () => {
    const line = {
      run_id: "a",
      status: "error",
      code: "LENGTH",
      model: "m",
      loop: "v2",
      protocol: "v1.1",
      started: 2,
      ended: 3.5,
    };
    const { base } = await serve(
      errorResponse(200, JSON.stringify({ runs: [line, { run_id: "b", ended: null }, null] })),
    );
    const { runs, isAll } = await fetchRuns(createClient({ baseUrl: base }), 50);
    expect(
      runs.map(({ runId, status, code, protocol, started, ms }) => [runId, status, code, protocol, started, ms]),
    ).toEqual([
      ["a", "error", "LENGTH", "v1.1", 2000, 1500],
      ["b", "running", undefined, "", 0, undefined],
    ]);
    expect(isAll).toBe(false);
  });

  it("has the owners of runs if the server sends them", async () => {
    const runs = [{ id: "t1", name: "Ada" }, { id: "t2", name: null }, null].map((owner, n) => ({
      run_id: `${n}`,
      owner,
    }));
    const { base } = await serve(errorResponse(200, JSON.stringify({ runs, next: null, all_owners: true })));
    const page = await fetchRuns(createClient({ baseUrl: base }), 50);
    expect([page.isAll, page.runs.map(({ owner }) => owner)]).toEqual([true, ["Ada", "t2", ""]]);
  });
});
