import { describe, expect, it } from "vitest";
import { createClient } from "../src/requests/client.ts";
import { ApiError } from "../src/requests/errors.ts";
import { followRun } from "../src/requests/runStream.ts";
import type { ChatEvent } from "../src/types/receivedEvents.ts";
import { BODY, chat, text } from "./fixtures/chatStream.ts";
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

describe("postChat", () => {
  it("posts the message and delivers the events", async () => {
    const bodies: string[] = [];
    const { base, seen } = await serve((request, response) => {
      request.on("data", (data) => bodies.push(String(data)));
      request.on("end", () => response.writeHead(200, HEAD).end(contentFrame(1, "a") + doneFrame(2)));
    });
    const heard = await chat(base);
    expect(heard).toMatchObject({ ended: "done", connection: [] });
    expect(heard.started).toEqual([{ runId: "run", loop: "v2", conversationId: "talk", messageId: "words" }]);
    expect(text(heard)).toBe("a<done>");
    expect(seen[0]?.url).toBe("/api/chat/stream");
    expect(JSON.parse(bodies.join(""))).toEqual(BODY);
  });

  it("resumes a dropped run without repetitions", async () => {
    const { base, seen } = await serve(
      brokenStream(contentFrame(1, "a"), contentFrame(2, "b")),
      brokenStream(contentFrame(2, "b"), contentFrame(4, "c")),
      completeStream(contentFrame(4, "c"), contentFrame(5, "d"), doneFrame(6)),
    );
    const heard = await chat(base);
    expect(text(heard)).toBe("abcd<done>");
    expect(heard.ended).toBe("done");
    expect(heard.connection).toEqual(["resuming", "open", "resuming", "open"]);
    expect(seen.map((request) => [request.method, request.url, request.headers["last-event-id"]])).toEqual([
      ["POST", "/api/chat/stream", undefined],
      ["GET", "/api/runs/run/events", "run:2"],
      ["GET", "/api/runs/run/events", "run:4"],
    ]);
  });

  it("treats a stream that ends without done as dropped", async () => {
    const { base } = await serve(completeStream(contentFrame(1, "a")), completeStream(doneFrame(2)));
    expect(text(await chat(base))).toBe("a<done>");
  });

  it("retries after a server error, and gives up if the run is unknown", async () => {
    const { base, seen } = await serve(
      brokenStream(contentFrame(1, "a")),
      errorResponse(503, ""),
      errorResponse(404, "{}"),
    );
    expect(await chat(base)).toMatchObject({ ended: "lost" });
    expect(seen.length).toBe(3);
  });

  it("gives up after the last delay", async () => {
    const { base, seen } = await serve(brokenStream(contentFrame(1, "a")));
    expect(await chat(base)).toMatchObject({ ended: "lost" });
    expect(seen.length).toBe(4);
  });

  it("treats a long silence as a dropped connection", async () => {
    const silent: Handler = (_, response) => {
      response.writeHead(200, HEAD).write(contentFrame(1, "a"));
    };
    const { base } = await serve(silent, completeStream(contentFrame(2, "b"), doneFrame(3)));
    expect(text(await chat(base, { idleMs: 60 }))).toBe("ab<done>");
  });

  it("ends when aborted, also while it waits", async () => {
    const abort = new AbortController();
    const { base } = await serve(brokenStream(contentFrame(1, "a")));
    const heard = await chat(base, {
      signal: abort.signal,
      resumeDelays: [60_000],
      onConnection: () => abort.abort(),
    });
    expect(heard.ended).toBe("aborted");
  });

  it("ends when aborted in mid-stream, and keeps earlier events", async () => {
    const abort = new AbortController();
    const { base } = await serve((_, response) => {
      response.writeHead(200, HEAD).write(contentFrame(1, "a"));
    });
    const events: ChatEvent[] = [];
    const heard = await chat(base, {
      signal: abort.signal,
      onEvent: (event) => {
        events.push(event);
        abort.abort();
      },
    });
    expect([heard.ended, events.length]).toEqual(["aborted", 1]);
  });

  it("rethrows an error of the page instead of treating it as a dropped connection", async () => {
    const { base, seen } = await serve(completeStream(contentFrame(1, "a"), doneFrame(2)));
    const onEvent = () => {
      throw new TypeError("ours");
    };
    await expect(chat(base, { onEvent })).rejects.toThrow("ours");
    expect(seen.length).toBe(1);
  });
});

describe("a run that is over", () => {
  it("is closed by the server, not cancelled by the page", async () => {
    let closed: (early: boolean) => void = () => undefined;
    const early = new Promise<boolean>((resolve) => {
      closed = resolve;
    });
    const { base } = await serve((_, response) => {
      response.on("close", () => closed(!response.writableFinished));
      response
        .writeHead(200, HEAD)
        .write(contentFrame(1, "a") + doneFrame(2), () => setTimeout(() => response.end(), 30));
    });
    expect((await chat(base)).ended).toBe("done");
    expect(await early).toBe(false);
  });
});

describe("followRun", () => {
  const follow = async (base: string, events: ChatEvent[] = []) => ({
    ended: await followRun("run", {
      client: createClient({ baseUrl: base }),
      signal: new AbortController().signal,
      resumeDelays: [0, 0],
      onEvent: (event) => events.push(event),
    }),
    events: events.map((e) => (e.type === "content" ? e.content : `<${e.type}>`)).join(""),
  });

  it("replays a run from its first event, and resumes it", async () => {
    const { base, seen } = await serve(
      brokenStream(contentFrame(1, "a")),
      errorResponse(503, ""),
      completeStream(contentFrame(2, "b"), doneFrame(3)),
    );
    expect(await follow(base)).toEqual({ ended: "done", events: "ab<done>" });
    expect(seen.map(({ url, headers }) => [url, headers["last-event-id"]])).toEqual([
      ["/api/runs/run/events", undefined],
      ["/api/runs/run/events", "run:1"],
      ["/api/runs/run/events", "run:1"],
    ]);
  });

  it("is lost at once if the run is unknown", async () => {
    const { base, seen } = await serve(errorResponse(404, "{}"));
    expect(await follow(base)).toEqual({ ended: "lost", events: "" });
    expect(seen.length).toBe(1);
  });
});

describe("errors before a run", () => {
  const wait = { "retry-after": "7" };
  it.each([
    [
      "our own shape",
      errorResponse(422, '{"error":{"code":"UNKNOWN_MODEL","message":"No such model.","field":"model"}}'),
      { status: 422, code: "UNKNOWN_MODEL", message: "No such model.", field: "model", retryAfter: undefined },
    ],
    [
      "a wait",
      errorResponse(503, '{"error":{"code":"TOO_MANY_RUNS","message":"Too many."}}', wait),
      { status: 503, code: "TOO_MANY_RUNS", message: "Too many.", field: undefined, retryAfter: 7 },
    ],
    [
      "a proxy's page",
      errorResponse(502, "<html>Bad gateway</html>"),
      {
        status: 502,
        code: "HTTP_502",
        message: "The server responded with status 502.",
        field: undefined,
        retryAfter: undefined,
      },
    ],
    [
      "JSON of another shape",
      errorResponse(400, '{"error":"no"}'),
      {
        status: 400,
        code: "HTTP_400",
        message: "The server responded with status 400.",
        field: undefined,
        retryAfter: undefined,
      },
    ],
    ["null", errorResponse(500, "null"), { status: 500, code: "HTTP_500" }],
  ])("reads %s", async (_, handler, expected) => {
    const { base, seen } = await serve(handler);
    const error = await chat(base, { askDelays: [] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject(expected);
    expect(seen.length).toBe(1);
  });

  it("reports that the server does not respond, after a few tries", async () => {
    const { base, seen } = await serve();
    await expect(chat(base)).rejects.toMatchObject({ status: 0, code: "SERVER_UNREACHABLE" });
    expect(seen.length).toBe(4);
  });
});
