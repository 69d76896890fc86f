import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiClient } from "../src/requests/client.ts";
import { ApiError } from "../src/requests/errors.ts";
import { asking, FakePage, Live, news, Places, pass, portal, server, turns } from "./fixtures/followedRun.ts";
import { contentFrame, doneFrame } from "./fixtures/serve.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a message when all streams are in use", () => {
  it("starts a run that is polled to its end", async () => {
    const posted = new Live();
    const { client, asked, lines } = server(
      posted,
      news(contentFrame(1, "a")),
      news(),
      news(contentFrame(2, "b")),
      news(doneFrame(3)),
    );
    const { turn, held } = turns();
    const { told, seqs, ended } = asking({ client, slots: new Places(0), turn });
    await pass(0);
    expect(posted.isLeft).toBe(true);
    expect(held()).toBe(0);
    await pass(2000);
    expect(await ended).toBe("done");
    expect(told).toEqual(["[run]", "(polling)", "a", "b", "<done>"]);
    expect(seqs).toEqual([1, 2, 3]);
    expect(lines()).toEqual([
      "POST /api/chat/stream",
      "GET /api/runs/run/events?after=0&follow=false",
      "GET /api/runs/run/events?after=1&follow=false",
      "GET /api/runs/run/events?after=1&follow=false",
      "GET /api/runs/run/events?after=2&follow=false",
    ]);
    expect(asked.map(({ at }) => at)).toEqual([0, 0, 250, 500, 750]);
  });

  it("is polled every second if it takes longer, and rarely while the page is hidden", async () => {
    const page = new FakePage();
    const { client, asked } = server(new Live(), ...Array.from({ length: 20 }, () => () => news()));
    const { abort } = asking({ client, slots: new Places(0), page });
    await pass(4000);
    const times = asked.map(({ at }) => at);
    expect(times.slice(-3)).toEqual([1500, 2500, 3500]);
    page.hidden = true;
    await pass(10_000);
    expect(asked.slice(times.length).map(({ at }) => at)).toEqual([4500, 7000, 9500, 12_000]);
    abort.abort();
  });

  it("switches to a stream as soon as one is free, at the same position", async () => {
    const slots = new Places(0);
    const live = new Live();
    const { client, lines } = server(new Live(), news(contentFrame(1, "a")), live);
    const { told, ended } = asking({ client, slots });
    await pass(0);
    slots.free = 1;
    await pass(250);
    expect([slots.free, lines().at(-1)]).toEqual([0, "GET /api/runs/run/events run:1"]);
    live.say(contentFrame(2, "b") + doneFrame(3));
    live.end();
    expect(await ended).toBe("done");
    expect(told).toEqual(["[run]", "(polling)", "a", "(open)", "b", "<done>"]);
    expect(slots.free).toBe(1);
  });

  it("shares one connection with all others, also for its first request", async () => {
    let open = 0;
    let most = 0;
    const client: ApiClient = {
      async request(_, init) {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 40));
        open -= 1;
        return init?.method === "POST" ? new Live().response : news();
      },
    };
    const { turn } = turns();
    const all = Array.from({ length: 6 }, () => asking({ client, slots: new Places(0), turn }));
    await pass(3000);
    expect(most).toBe(1);
    for (const one of all) one.abort.abort();
    await pass(1000);
    expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => "aborted"));
  });

  it("reports failed polls, continues, and gives up in the end", async () => {
    const down = new ApiError(500, "INTERNAL", "Broken.");
    const { client } = server(new Live(), news(), down, news(contentFrame(1, "a")), down, down, down);
    const { told, ended } = asking({ client, slots: new Places(0), resumeDelays: [0, 10] });
    await pass(2000);
    expect(await ended).toBe("lost");
    expect(told).toEqual(["[run]", "(polling)", "(resuming)", "(polling)", "a", "(resuming)"]);
  });

  it("is not given up while every second poll succeeds", async () => {
    const down = () => new ApiError(500, "INTERNAL", "Broken.");
    const { client } = server(
      new Live(),
      down,
      () => news(),
      down,
      () => news(),
      down,
      news(doneFrame(1)),
    );
    const { ended } = asking({ client, slots: new Places(0), resumeDelays: [0] });
    await pass(2000);
    expect(await ended).toBe("done");
  });

  it("is lost if the server says that all was seen but there was no end", async () => {
    const { client, asked } = server(new Live(), new Response(null, { status: 204 }));
    const { ended } = asking({ client, slots: new Places(0) });
    await pass(0);
    expect(await ended).toBe("lost");
    expect(asked.length).toBe(2);
  });

  it("ignores a foreign response to a poll", async () => {
    const page = portal();
    const { client } = server(new Live(), page, news(doneFrame(1)));
    const { told, ended } = asking({ client, slots: new Places(0) });
    await pass(0);
    expect(page.isLeft).toBe(true);
    expect(await ended).toBe("done");
    expect(told).toEqual(["[run]", "(resuming)", "(polling)", "<done>"]);
  });

  it("does not wait forever for a poll that hangs", async () => {
    const hung = new Live();
    const { turn, held } = turns();
    const { client, lines } = server(new Live(), hung, news(doneFrame(1)));
    const { ended } = asking({ client, slots: new Places(0), turn });
    await pass(100);
    expect(held()).toBe(1);
    await pass(16_000);
    expect(await ended).toBe("done");
    expect([held(), hung.isLeft, lines().length]).toEqual([0, true, 3]);
  });
});
