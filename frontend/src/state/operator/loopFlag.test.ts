import { createClient } from "@signalbox/client/requests";
import { expect, it } from "vitest";
import { fetchFlag, storeOverride } from "./loopFlag.ts";

it("changes the flag with the operator token, whatever other token is set", async () => {
  const standing = { key: "tool_loop_v2", state: "percent", percent: 10, environment: null, effective: "10 %." };
  const seen: unknown[] = [];
  const fetch = async (url: unknown, { method = "GET", headers, body }: RequestInit = {}) => {
    seen.push([method, url, new Headers(headers).get("authorization"), body && JSON.parse(String(body))]);
    return Response.json(standing);
  };
  const client = createClient({ fetch, token: () => "access" });
  const read = { state: "percent", percent: 10, environment: undefined, effective: "10 %." };
  expect(await fetchFlag(client)).toEqual(read);
  expect(await storeOverride(client, "admin", { state: "percent", percent: 10 })).toEqual(read);
  await storeOverride(client, "admin", { state: "off", percent: 10 });
  expect(seen).toEqual([
    ["GET", "/api/flags/tool_loop_v2", "Bearer access", undefined],
    ["PUT", "/api/flags/tool_loop_v2", "Bearer admin", { state: "percent", percent: 10 }],
    ["PUT", "/api/flags/tool_loop_v2", "Bearer admin", { state: "off" }],
  ]);
});
