import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { postChat } from "../src/requests/runStream.ts";
import {
  asking,
  BODY,
  begin,
  Live,
  news,
  Places,
  pass,
  portal,
  SILENCE,
  server,
  turns,
} from "./fixtures/followedRun.ts";
import { contentFrame, doneFrame, HEAD } from "./fixtures/serve.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a message without a response from Signalbox", () => {
  const { "x-run-id": _, ...nameless } = HEAD;
  const { "content-type": __, ...untyped } = HEAD;
  const strangers: [string, () => Live][] = [
    ["a captive portal's page", portal],
    ["a page with our headers", () => new Live({ ...HEAD, "content-type": "text/html" })],
    ["a head that broke off before the run's name", () => new Live(nameless)],
    ["a head that broke off before its type", () => new Live(untyped)],
    ["a type that only begins like ours", () => new Live({ ...HEAD, "content-type": "text/event-streams" })],
  ];

  it("is sent again after 30 s without headers, and the body has no time limit", async () => {
    const live = new Live();
    const { client, asked } = server(SILENCE, live);
    const { told, ended } = asking({ client, askDelays: [10] });
    await pass(30_009);
    expect(asked.length).toBe(1);
    await pass(1);
    expect(asked.map(({ at }) => at)).toEqual([0, 30_010]);
    for (const seq of [1, 2]) {
      await pass(29_000);
      live.say(contentFrame(seq, "a"));
    }
    await pass(29_000);
    live.say(doneFrame(3));
    expect(await ended).toBe("done");
    expect(told).toEqual(["(resuming)", "(open)", "[run]", "a", "a", "<done>"]);
    expect(asked.length).toBe(2);
  });

  it("has the configured time limit, and more for a large body", async () => {
    const pictures = { ...BODY, messages: [{ role: "user", content: "x".repeat(320_000) }] };
    for (const [body, ms] of [[BODY, 110] as const, [pictures, 10_110] as const]) {
      const { client, asked } = server(SILENCE, news(doneFrame(1)));
      const { ended } = begin((options) => postChat(body, { ...options, headMs: 100, askDelays: [10] }), { client });
      await pass(20_000);
      expect(await ended).toBe("done");
      expect(asked[1]?.at).toBe(ms);
    }
  });

  it("is given up in the end, and its slot is released", async () => {
    for (const slots of [new Places(1), new Places(0)]) {
      const { turn, held } = turns();
      const { client, asked } = server(...Array.from({ length: 9 }, () => SILENCE as typeof SILENCE));
      const { told, ended } = asking({ client, slots, turn, askDelays: [10, 10], lineDelays: [] });
      await pass(0);
      expect([slots.free, held()]).toEqual([0, 1 - slots.given]);
      await pass(100_000);
      expect(await ended).toBe("threw Signalbox is not responding.");
      expect([asked.length, slots.free, held()]).toEqual([3, slots.given, 0]);
      expect(told).toEqual(["(resuming)", "(resuming)"]);
    }
  });

  it("is aborted while it waits for headers", async () => {
    const slots = new Places(1);
    const { client, asked } = server(SILENCE);
    const { ended, abort } = asking({ client, slots });
    await pass(1000);
    abort.abort();
    expect(await ended).toBe("aborted");
    await pass(100_000);
    expect([asked.length, slots.free]).toEqual([1, 1]);
  });

  it.each(strangers)("is sent again after %s, whose connection is closed", async (_, answer) => {
    for (const slots of [new Places(1), new Places(0)]) {
      const stranger = answer();
      const { client, asked } = server(
        stranger,
        news(contentFrame(1, "a"), doneFrame(2)),
        news(contentFrame(1, "a"), doneFrame(2)),
      );
      const { told, ended } = asking({ client, slots, askDelays: [10] });
      await pass(1000);
      expect(await ended).toBe("done");
      expect(stranger.isLeft).toBe(true);
      expect(asked[1]).toEqual({ line: "POST /api/chat/stream", at: 10 });
      const between = slots.given ? ["(open)", "[run]"] : ["(open)", "[run]", "(polling)"];
      expect(told).toEqual(["(resuming)", ...between, "a", "<done>"]);
    }
  });

  it.each(strangers)("is never started by %s", async (_, answer) => {
    for (const slots of [new Places(1), new Places(0)]) {
      const { turn, held } = turns();
      const { client, asked } = server(...Array.from({ length: 9 }, () => answer));
      const { told, ended } = asking({ client, slots, turn, askDelays: [10, 10] });
      await pass(1000);
      expect(await ended).toBe("threw A proxy or network login page responded instead of Signalbox.");
      expect(told).toEqual(["(resuming)", "(resuming)"]);
      expect([asked.length, slots.free, held()]).toEqual([3, slots.given, 0]);
    }
  });

  it("is recognized by its code", async () => {
    const { client } = server(portal);
    const asked = postChat(BODY, {
      client,
      signal: new AbortController().signal,
      slots: new Places(1),
      askDelays: [],
      onEvent: () => undefined,
    });
    await expect(asked).rejects.toMatchObject({ status: 0, code: "FOREIGN_ANSWER" });
  });

  it("starts with any parameters of the content type", async () => {
    const { client } = server(
      new Response(doneFrame(1), { headers: { ...HEAD, "content-type": "Text/Event-Stream; charset=utf-8" } }),
    );
    expect(await asking({ client }).ended).toBe("done");
  });
});
