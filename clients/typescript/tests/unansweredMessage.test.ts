import { describe, expect, it } from "vitest";
import { chat, text } from "./fixtures/chatStream.ts";
import {
  brokenStream,
  completeStream,
  contentFrame,
  doneFrame,
  errorResponse,
  type Handler,
  HEAD,
  serve,
} from "./fixtures/serve.ts";

describe("a message without a response", () => {
  const dead: Handler = (_, response) => {
    response.destroy();
  };
  const gateway = (status: number) => errorResponse(status, "<html>Bad gateway</html>");

  it("is sent again unchanged, under its key, and its run is followed", async () => {
    const bodies: string[] = [];
    const reading =
      (then: Handler): Handler =>
      (request, response) => {
        let body = "";
        request.on("data", (data) => {
          body += data;
        });
        request.on("end", () => {
          bodies.push(body);
          then(request, response);
        });
      };
    const { base, seen } = await serve(
      reading(dead),
      reading(gateway(502)),
      reading(gateway(504)),
      reading(completeStream(contentFrame(1, "a"), doneFrame(2))),
    );
    const heard = await chat(base, { key: "k-1" });
    expect(text(heard)).toBe("a<done>");
    expect(heard.connection).toEqual(["resuming", "resuming", "resuming", "open"]);
    expect(seen.map((request) => request.headers["idempotency-key"])).toEqual(["k-1", "k-1", "k-1", "k-1"]);
    expect(new Set(bodies).size).toBe(1);
  });

  const stalled: [string, Handler][] = [
    ["not a word comes", () => undefined],
    ["a head begins and goes no further", (_, response) => void response.socket?.write("HTTP/1.1 200 OK\r\nx-run")],
    [
      "a refusal's body does not end",
      (_, response) => void response.writeHead(422, { "content-length": "99" }).write('{"error":'),
    ],
  ];
  it.each(stalled)("is sent again when %s, and that connection is closed", async (_, stall) => {
    let closed = false;
    const { base, seen } = await serve(
      (request, response) => {
        response.on("close", () => {
          closed = true;
        });
        stall(request, response);
      },
      completeStream(contentFrame(1, "a"), doneFrame(2)),
    );
    expect(text(await chat(base, { headMs: 60, key: "k" }))).toBe("a<done>");
    expect(seen.map((request) => request.headers["idempotency-key"])).toEqual(["k", "k"]);
    await expect.poll(() => closed).toBe(true);
  });

  it("limits the time for headers only, not for the body", async () => {
    const { base, seen } = await serve((_, response) => {
      response.writeHead(200, HEAD).flushHeaders();
      setTimeout(() => response.end(contentFrame(1, "a") + doneFrame(2)), 200);
    });
    expect(await chat(base, { headMs: 100 })).toMatchObject({ ended: "done", connection: [] });
    expect(seen.length).toBe(1);
  });

  it("is sent again after a foreign response", async () => {
    const page: Handler = (_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in to the network</html>");
    };
    const { base, seen } = await serve(page, page, completeStream(contentFrame(1, "a"), doneFrame(2)));
    const heard = await chat(base);
    expect(text(heard)).toBe("a<done>");
    expect([heard.started.length, seen.length]).toEqual([1, 3]);
    const again = await serve(page, page, page, page);
    await expect(chat(again.base)).rejects.toMatchObject({ status: 0, code: "FOREIGN_ANSWER" });
    expect(again.seen.length).toBe(4);
  });

  it("gets a key if none is given", async () => {
    const { base, seen } = await serve(dead, completeStream(doneFrame(1)), completeStream(doneFrame(1)));
    await chat(base);
    await chat(base);
    const keys = seen.map((request) => request.headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^\S{32,36}$/);
    expect([keys[0] === keys[1], keys[1] === keys[2]]).toEqual([true, false]);
  });

  it("is not sent again once the run has an id; the run is resumed instead", async () => {
    const { base, seen } = await serve(brokenStream(), completeStream(contentFrame(1, "a"), doneFrame(2)));
    expect(text(await chat(base))).toBe("a<done>");
    expect(seen.map(({ method, headers }) => [method, headers["last-event-id"]])).toEqual([
      ["POST", undefined],
      ["GET", undefined],
    ]);
  });

  it.each([400, 401, 422, 429, 500, 503])("is not sent again after a %i", async (status) => {
    const { base, seen } = await serve(errorResponse(status, '{"error":{"code":"NO","message":"No."}}'));
    await expect(chat(base)).rejects.toMatchObject({ status });
    expect(seen.length).toBe(1);
  });

  it("is given up when aborted while waiting", async () => {
    const abort = new AbortController();
    const { base, seen } = await serve(dead);
    const heard = await chat(base, { signal: abort.signal, askDelays: [60_000], onConnection: () => abort.abort() });
    expect([heard.ended, seen.length]).toEqual(["aborted", 1]);
  });
});
