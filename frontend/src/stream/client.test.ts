import { describe, expect, it } from "vitest";
import { errorResponse, serve } from "../fixtures/serve.ts";
import { createClient, fetchDocument, stopRun } from "./client.ts";

describe("the client", () => {
  it("sends the token, and stops a run by its id", async () => {
    const { base, seen } = await serve(errorResponse(200, "{}"));
    await stopRun(createClient({ base, token: () => "secret" }), "a/b");
    expect([seen[0]?.method, seen[0]?.url]).toEqual(["POST", "/api/runs/a%2Fb/stop"]);
    expect(seen[0]?.headers.authorization).toBe("Bearer secret");
  });

  it("loads a document as text", async () => {
    const { base, seen } = await serve(errorResponse(200, "# A"));
    expect(await fetchDocument(createClient({ base }), "/guide/a.md")).toBe("# A");
    expect(seen[0]?.headers.accept).not.toContain("text/html");
  });
});
