import { describe, expect, it, vi } from "vitest";
import { createClient, fetchDocument, fetchReadiness, isReachable, stopRun } from "../src/requests/client.ts";
import { errorResponse, serve } from "./fixtures/serve.ts";

describe("the client", () => {
  it("sends the token, and stops a run by its id", async () => {
    const { base, seen } = await serve(errorResponse(200, "{}"));
    await stopRun(createClient({ baseUrl: base, token: () => "secret" }), "a/b");
    expect([seen[0]?.method, seen[0]?.url]).toEqual(["POST", "/api/runs/a%2Fb/stop"]);
    expect(seen[0]?.headers.authorization).toBe("Bearer secret");
  });

  it("loads a document as text", async () => {
    const { base, seen } = await serve(errorResponse(200, "# A"));
    expect(await fetchDocument(createClient({ baseUrl: base }), "/guide/a.md")).toBe("# A");
    expect(seen[0]?.headers.accept).not.toContain("text/html");
  });
});

describe("the base URL", () => {
  const requested = async (baseUrl?: string): Promise<string[]> => {
    const seen: string[] = [];
    const fetch = async (url: unknown) => {
      seen.push(String(url));
      return Response.json({});
    };
    const options = baseUrl === undefined ? { fetch } : { baseUrl, fetch };
    await createClient(options).request("/api/tools");
    await fetchReadiness(options);
    expect(await isReachable(options)).toBe(true);
    return seen;
  };

  it.each([
    [undefined, ""],
    ["", ""],
    ["/", ""],
    ["/chat", "/chat"],
    ["/chat/", "/chat"],
    ["https://example.org/chat/", "https://example.org/chat"],
    [".", "https://page.example/support"],
    ["../chat", "https://page.example/chat"],
  ])("%j precedes every path", async (baseUrl, base) => {
    vi.stubGlobal("document", { baseURI: "https://page.example/support/index.html" });
    expect(await requested(baseUrl)).toEqual(
      ["/api/tools", "/health/ready", "/health/live"].map((path) => base + path),
    );
    vi.unstubAllGlobals();
  });
});
