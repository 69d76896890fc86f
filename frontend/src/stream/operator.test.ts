import { describe, expect, it } from "vitest";
import { errorResponse, type Handler, serve } from "../fixtures/serve.ts";
import { createClient } from "./client.ts";
import { fetchFlag, fetchRuns, storeOverride } from "./operator.ts";

describe("the operator's calls", () => {
  it("changes the flag with the operator token, whatever other token is set", async () => {
    const bodies: string[] = [];
    const standing = { key: "tool_loop_v2", state: "percent", percent: 10, environment: null, effective: "10 %." };
    const answering: Handler = (request, response) => {
      request.on("data", (data) => bodies.push(String(data)));
      request.on("end", () => response.end(JSON.stringify(standing)));
    };
    const { base, seen } = await serve(answering, answering, answering);
    const client = createClient({ base, token: () => "access" });
    const read = { state: "percent", percent: 10, environment: undefined, effective: "10 %." };
    expect(await fetchFlag(client)).toEqual(read);
    expect(await storeOverride(client, "admin", { state: "percent", percent: 10 })).toEqual(read);
    await storeOverride(client, "admin", { state: "off", percent: 10 });
    expect(seen.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ["GET", "/api/flags/tool_loop_v2", "Bearer access"],
      ["PUT", "/api/flags/tool_loop_v2", "Bearer admin"],
      ["PUT", "/api/flags/tool_loop_v2", "Bearer admin"],
    ]);
    expect(bodies.map((body) => JSON.parse(body))).toEqual([{ state: "percent", percent: 10 }, { state: "off" }]);
  });

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
    const { runs, isAll } = await fetchRuns(createClient({ base }), 50);
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
    const page = await fetchRuns(createClient({ base }), 50);
    expect([page.isAll, page.runs.map(({ owner }) => owner)]).toEqual([true, ["Ada", "t2", ""]]);
  });
});
