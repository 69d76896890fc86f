// Exports and changes of files whose response breaks, and responses of other servers.
import { describe, expect, it } from "vitest";
import { ConnectionLost, NotSignalbox, Signalbox } from "../src/index.ts";
import { errorResponse, type Handler, serve } from "./fixtures/serve.ts";

const LINES = { "content-type": "application/x-ndjson" };
const FAST = { firstMs: 1, longestMs: 2 };
const line = (runId: string): string => `${JSON.stringify({ run_id: runId })}\n`;

async function exported(...handlers: Handler[]): Promise<{ found: string[]; error: unknown; asked: number }> {
  const { base, seen } = await serve(...handlers);
  const found: string[] = [];
  let error: unknown;
  try {
    for await (const { runId } of new Signalbox({ baseUrl: base, backoff: FAST }).runs.export()) found.push(runId);
  } catch (caught) {
    error = caught;
  }
  return { found, error, asked: seen.length };
}

describe("an export", () => {
  it("that breaks is an error after the lines that arrived, and is not requested again", async () => {
    const broken = await exported((_, response) => {
      response.writeHead(200, LINES).write(line("a"), () => setImmediate(() => response.destroy()));
    });
    expect(broken).toMatchObject({ found: ["a"], asked: 1 });
    expect(broken.error).toBeInstanceOf(ConnectionLost);
  });

  it("that ends within a line is an error", async () => {
    const cut = await exported(errorResponse(200, `${line("a")}{"run_id"`, LINES));
    expect(cut.found).toEqual(["a"]);
    expect(cut.error).toBeInstanceOf(ConnectionLost);
  });

  it("is requested again before its first line", async () => {
    const busy = errorResponse(503, "{}", { "retry-after": "0" });
    expect(await exported(busy, errorResponse(200, line("a\u2028b"), LINES))).toMatchObject({
      found: ["a\u2028b"],
      asked: 2,
    });
  });

  it.each([
    ["a page", errorResponse(200, "<p>Hi", { "content-type": "text/html" })],
    ["another type", errorResponse(200, "[]", { "content-type": "application/json" })],
    ["no JSON", errorResponse(200, "Hi\n", LINES)],
  ])("that is %s comes from another server", async (_, handler) => {
    expect((await exported(handler)).error).toBeInstanceOf(NotSignalbox);
  });
});

describe("a change of a file", () => {
  const lost: Handler = (_, response) => void response.destroy();

  it("is not repeated if its response is lost, since it would make a second version", async () => {
    const { base, seen } = await serve(lost, lost, lost, lost);
    const files = new Signalbox({ baseUrl: base, backoff: FAST }).conversations.files("c");
    const changes = [() => files.write("a", "b"), () => files.delete("a"), () => files.restore("a", 1)];
    for (const change of changes) await expect(change()).rejects.toBeInstanceOf(ConnectionLost);
    expect(seen.map(({ method }) => method)).toEqual(["PUT", "DELETE", "POST"]);
  });

  it("is repeated after a rejection, and reading is always repeated", async () => {
    const version = { path: "a", version: 3, is_deleted: false };
    const busy = errorResponse(503, "{}", { "retry-after": "0" });
    const content = errorResponse(200, "text", { "x-file-version": "3" });
    const { base, seen } = await serve(busy, errorResponse(200, JSON.stringify(version)), lost, content);
    const files = new Signalbox({ baseUrl: base, backoff: FAST }).conversations.files("c");
    expect(await files.write("a", "b")).toMatchObject({ version: 3 });
    expect(await files.get("a")).toMatchObject({ version: 3, text: "text" });
    expect(seen).toHaveLength(4);
  });
});

it("other servers have no files and no CSV", async () => {
  const json = errorResponse(200, "{}", { "content-type": "application/json" });
  const { base } = await serve(json, json, json, json);
  const client = new Signalbox({ baseUrl: base, backoff: FAST });
  const files = client.conversations.files("c");
  for (const use of [() => files.get("a"), () => files.archive(), () => files.write("a", ""), () => client.spendCsv()])
    await expect(use()).rejects.toBeInstanceOf(NotSignalbox);
});
