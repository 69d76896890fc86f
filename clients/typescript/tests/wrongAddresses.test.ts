// A base URL that is wrong: no URL, or another server.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ConnectionLost,
  InvalidBaseUrl,
  NotSignalbox,
  type RequestRejected,
  Signalbox,
  SignalboxError,
} from "../src/index.ts";
import { serve } from "./fixtures/serve.ts";

afterEach(() => void vi.unstubAllGlobals());

const message = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidBaseUrl);
    return (error as Error).message;
  }
  return "no error";
};

describe("a token", () => {
  it.each(["secret\0", "secret\n", "sécret"])("that no header can have is rejected, and not shown: %j", (token) => {
    try {
      new Signalbox({ baseUrl: "http://127.0.0.1:8000", token });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(SignalboxError);
      expect((error as Error).message).toContain("token");
      expect((error as Error).message).not.toContain("cret");
    }
  });
});

describe("a base URL", () => {
  it.each<[string | undefined, string]>([
    [undefined, "must begin with http://"],
    ["", "must begin with http://"],
    ["/chat", "must begin with http://"],
    ["127.0.0.1:8000", "must begin with http://"],
    ["localhost:8000", "must begin with http://"],
    ["ftp://127.0.0.1", "must begin with http://"],
    ["http://", "host or its port is invalid"],
    ["http://[::1", "host or its port is invalid"],
    ["http://a host", "host or its port is invalid"],
    ["http://127.0.0.1:99999", "host or its port is invalid"],
    ["http://127.0.0.1:0", "host or its port is invalid"],
    ["http://127.0.0.1:port", "host or its port is invalid"],
    ["http://127.0.0.1:8000/?a=1", "no query"],
    ["http://127.0.0.1:8000/#top", "no query"],
    ["http://user:secret@127.0.0.1:8000", "no user name or password"],
  ])("%j is rejected before any request", (baseUrl, problem) => {
    const said = message(() => new Signalbox(baseUrl === undefined ? {} : { baseUrl }));
    expect(said).toContain(problem);
    expect(said).toContain("looks like http://127.0.0.1:8000");
    expect(said).not.toContain("secret");
  });

  it("may be relative or missing in a page", () => {
    vi.stubGlobal("document", { baseURI: "https://page.example/support/index.html" });
    for (const baseUrl of ["", "/", "/chat", ".", "../chat", "https://example.org:8000/chat/"])
      expect(message(() => new Signalbox({ baseUrl }))).toBe("no error");
    expect(message(() => new Signalbox())).toBe("no error");
    for (const baseUrl of ["127.0.0.1:8000", "localhost:8000", "./?a=1", "http://a:99999"])
      expect(message(() => new Signalbox({ baseUrl }))).toContain("is invalid");
  });
});

describe("a closed port", () => {
  it("is reported with its address and what to do", async () => {
    for (const call of Object.values(CALLS)) {
      const { base, close } = await serve();
      close();
      const client = new Signalbox({ baseUrl: base, backoff: { attempts: 1 } });
      const error: Error = await call(client).then(
        () => expect.fail(),
        (caught) => caught,
      );
      expect(error).toBeInstanceOf(ConnectionLost);
      expect(error.message).toContain(
        `not responding: connect ECONNREFUSED ${new URL(base).host}. Check that the server`,
      );
    }
  });
});

const CALLS: Record<string, (client: Signalbox) => Promise<unknown>> = {
  ask: (client) => client.ask("Hello!", { model: "m" }),
  follow: (client) => client.runs.follow("1").answer(),
  tools: (client) => client.tools(),
  list: (client) => client.runs.list().next(),
  export: (client) => client.conversations.export("1"),
  delete: (client) => client.runs.delete("1"),
};

describe("another server", () => {
  it.each<[string, number, Record<string, string>, string]>([
    ["a login", 302, { location: "https://example.com/login?state=secret" }, ""],
    ["a moved server", 308, { location: "https://example.com/" }, ""],
    ["a page", 200, { "content-type": "text/html; charset=utf-8" }, "<html>"],
    ["a missing page", 404, { "content-type": "text/html" }, "<html>nginx</html>"],
    ["a wrong method", 405, { "content-type": "text/html" }, "<html>nginx</html>"],
    ["no POST", 501, { "content-type": "text/html" }, "<html>"],
    ["OpenAI", 404, { "content-type": "application/json" }, '{"error":{"code":"not_found","message":"No."}}'],
    ["OpenRouter", 404, { "content-type": "application/json" }, '{"error":{"code":404,"message":"No."}}'],
    ["a wrong path", 404, { "content-type": "application/json" }, '{"error":{"code":"NOT_FOUND","message":"No."}}'],
  ])("is recognized at once, whatever is requested: %s", async (_, status, headers, body) => {
    for (const [name, call] of Object.entries(CALLS)) {
      const { base, seen } = await serve((_, response) => void response.writeHead(status, headers).end(body));
      const error: Error = await call(new Signalbox({ baseUrl: base })).then(
        () => expect.fail(name),
        (caught) => caught,
      );
      expect(error, name).toBeInstanceOf(NotSignalbox);
      expect(error.message).toContain(`${base}/api/`);
      expect(error.message).toContain(headers.location ? "a redirect to https://example.com/" : `HTTP ${status} with`);
      expect(error.message).toMatch(/Check baseUrl\.$/);
      expect(error.message).not.toContain("secret");
      expect(seen).toHaveLength(1);
    }
  });

  it("that answers a question with JSON is recognized, too", async () => {
    const { base } = await serve((_, response) => void response.end("{}"));
    await expect(CALLS.ask?.(new Signalbox({ baseUrl: base }))).rejects.toBeInstanceOf(NotSignalbox);
  });

  it("gets a hint if baseUrl is that of an OpenAI client", async () => {
    const { base } = await serve((_, response) => void response.writeHead(404).end());
    const client = new Signalbox({ baseUrl: `${base}/v1` });
    await expect(client.tools()).rejects.toThrow("baseUrl must not end in /v1.");
  });

  it.each([401, 403, 413, 500, 502])("may be a proxy in front of Signalbox: %i keeps its class", async (status) => {
    const { base } = await serve((_, response) => void response.writeHead(status).end("<html>nginx</html>"));
    const client = new Signalbox({ baseUrl: base, backoff: { attempts: 1 } });
    const error: RequestRejected = await client.tools().then(
      () => expect.fail(),
      (caught) => caught,
    );
    expect(error.status).toBe(status);
    expect(error.name).not.toBe("NotSignalbox");
  });
});
