import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../src/requests/errors.ts";
import { followSave } from "../src/requests/runStream.ts";
import type { ChatEvent } from "../src/types/receivedEvents.ts";
import {
  asking,
  begin,
  FakePage,
  Live,
  news,
  Places,
  pass,
  portal,
  rejoining,
  SILENCE,
  server,
  turns,
} from "./fixtures/followedRun.ts";
import { contentFrame, doneFrame } from "./fixtures/serve.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a stream's slot is released", () => {
  const cases: [string, (live: Live, abort: AbortController) => void, string][] = [
    ["at the run's end", (live) => live.say(doneFrame(1)), "done"],
    ["on an abort", (_, abort) => abort.abort(), "aborted"],
    ["when the run is lost", (live) => live.cut(), "lost"],
    ["on a fault of the page", (live) => live.say(contentFrame(1, "fault")), "threw ours"],
  ];
  it.each(cases)("%s", async (_, happen, expected) => {
    for (const start of [asking, rejoining]) {
      const [slots, live, page] = [new Places(1), new Live(), new FakePage()];
      const { client } = server(live);
      const onEvent = (event: ChatEvent) => {
        if (event.type === "content") throw new TypeError("ours");
      };
      const { ended, abort } = start({ client, slots, page, onEvent, resumeDelays: [] });
      await pass(0);
      expect(slots.free).toBe(0);
      happen(live, abort);
      await pass(0);
      expect(await ended).toBe(expected);
      expect([slots.free, slots.given, page.listeners]).toEqual([1, 1, 0]);
    }
  });

  it("when the message is rejected", async () => {
    const slots = new Places(1);
    const { client } = server(new ApiError(422, "UNKNOWN_MODEL", "No such model."));
    expect(await asking({ client, slots }).ended).toBe("threw No such model.");
    expect(slots.free).toBe(1);
  });
});

describe("a dropped run", () => {
  it("may drop any number of times while events arrive", async () => {
    const drops = Array.from({ length: 5 }, (_, at) => news(contentFrame(at + 1, "a")));
    const { client } = server(...drops, news(doneFrame(9)));
    const { ended } = rejoining({ client, resumeDelays: [0] });
    await pass(10);
    expect(await ended).toBe("done");
  });

  it.each([429, 503])("waits as long as a %i response asks for", async (status) => {
    const busy = new ApiError(status, "TOO_MANY_RUNS", "Too many.", undefined, 7);
    const { client, asked } = server(busy, news(contentFrame(1, "a"), doneFrame(2)));
    const page = new FakePage();
    const { ended } = rejoining({ client, page });
    await pass(5000);
    page.online();
    await pass(1999);
    expect(asked.length).toBe(1);
    await pass(1);
    expect(await ended).toBe("done");
  });

  it("waits at most five minutes, whatever the server asks for", async () => {
    const busy = new ApiError(503, "TOO_MANY_RUNS", "Too many.", undefined, 1000);
    const { client, asked } = server(busy, news(doneFrame(1)));
    const { ended } = rejoining({ client });
    await pass(299_999);
    expect(asked.length).toBe(1);
    await pass(1);
    expect(await ended).toBe("done");
  });

  it("is resumed at once when the network is back", async () => {
    const page = new FakePage();
    const gone = new ApiError(0, "SERVER_UNREACHABLE", "No.");
    const { client, asked } = server(gone, news(doneFrame(1)));
    const { ended } = rejoining({ client, page, resumeDelays: [60_000] });
    await pass(1000);
    page.online();
    expect(await ended).toBe("done");
    expect(asked.map(({ at }) => at)).toEqual([0, 1000]);
    expect(page.listeners).toBe(0);
  });

  it("is not given up while the browser has no network", async () => {
    const page = new FakePage();
    const gone = () => new ApiError(0, "SERVER_UNREACHABLE", "No.");
    const { client, asked } = server(gone, gone, gone, news(doneFrame(1)));
    const { ended, told } = rejoining({ client, page, resumeDelays: [0, 10] });
    page.offline = true;
    await pass(200_000);
    expect(asked.length).toBe(3);
    page.online();
    expect(await ended).toBe("done");
    expect(told).toEqual(["(resuming)", "(open)", "<done>"]);
  });

  it("closes a connection from before the network loss", async () => {
    const page = new FakePage();
    const dead = new Live();
    const { client, lines } = server(dead, news(contentFrame(1, "a"), contentFrame(2, "b"), doneFrame(3)));
    const { ended, told } = rejoining({ client, page });
    await pass(0);
    dead.say(contentFrame(1, "a"));
    await pass(0);
    page.online();
    await pass(0);
    expect(await ended).toBe("done");
    expect(told).toEqual(["a", "(resuming)", "(open)", "b", "<done>"]);
    expect(lines()[1]).toBe("GET /api/runs/run/events run:1");
    expect(dead.isLeft).toBe(true);
  });

  it("is requested again without a response", async () => {
    const { client, asked } = server(SILENCE, news(doneFrame(1)));
    const { ended } = rejoining({ client });
    await pass(14_999);
    expect(asked.length).toBe(1);
    await pass(2);
    expect(await ended).toBe("done");
  });

  it.each([400, 402, 403, 405, 408, 409, 425, 429, 451, 500, 502, 503])("continues after a %i", async (status) => {
    const { client, lines } = server(news(contentFrame(1, "a")), new ApiError(status, "NO", "No."), news(doneFrame(2)));
    const { told, ended } = rejoining({ client });
    await pass(500);
    expect(await ended).toBe("done");
    expect(told).toEqual(["a", "(resuming)", "(open)", "<done>"]);
    expect(lines().length).toBe(3);
  });

  it.each([404, 410, 422])("is lost at once by a %i", async (status) => {
    for (const slots of [new Places(1), new Places(0)]) {
      const { client, asked } = server(
        news(contentFrame(1, "a")),
        new ApiError(status, "NO", "No."),
        news(doneFrame(2)),
      );
      const { ended } = rejoining({ client, slots });
      await pass(10_000);
      expect(await ended).toBe("lost");
      expect([asked.length, slots.free]).toEqual([2, slots.given]);
    }
  });

  it("with a rejected token throws at once, and releases its slot", async () => {
    for (const slots of [new Places(1), new Places(0)]) {
      const { turn, held } = turns();
      const { client, asked } = server(
        news(contentFrame(1, "a")),
        new ApiError(401, "UNAUTHORIZED", "An access token is required."),
      );
      const { ended } = rejoining({ client, slots, turn });
      await pass(10_000);
      expect(await ended).toBe("threw An access token is required.");
      expect([asked.length, slots.free, held()]).toEqual([2, slots.given, 0]);
    }
  });

  it("does not end with a foreign response, and closes it", async () => {
    const page = portal();
    const { client, lines } = server(news(contentFrame(1, "a")), page, news(contentFrame(2, "b"), doneFrame(3)));
    const { told, ended } = rejoining({ client });
    await pass(500);
    expect(await ended).toBe("done");
    expect(told).toEqual(["a", "(resuming)", "(open)", "b", "<done>"]);
    expect(lines()[2]).toBe("GET /api/runs/run/events run:1");
    expect(page.isLeft).toBe(true);
  });

  it("is lost if every response is foreign", async () => {
    const { client, asked } = server(...Array.from({ length: 9 }, () => portal));
    const { ended } = rejoining({ client, resumeDelays: [0, 10] });
    await pass(1000);
    expect([await ended, asked.length]).toEqual(["lost", 3]);
  });

  it("counts as lost after 45 silent seconds, but not while the server pings", async () => {
    const silent = new Live();
    const { client, asked } = server(silent, news(doneFrame(1)));
    const { ended } = rejoining({ client });
    await pass(44_000);
    silent.say(": ping\n\n");
    await pass(44_999);
    expect(asked.length).toBe(1);
    await pass(2);
    expect(await ended).toBe("done");
    expect(asked.length).toBe(2);
  });
});

describe("a save", () => {
  it("is read with a short request and resumed, without a stream slot", async () => {
    const { turn, held } = turns();
    const slots = new Places(4);
    const first = new Live();
    const { client, lines } = server(first, news(contentFrame(2, "b"), doneFrame(3)));
    const { told, ended } = begin((options) => followSave("a/b", options), { client, turn, slots });
    await pass(0);
    expect(held()).toBe(1);
    first.say(contentFrame(1, "a"));
    await pass(0);
    first.cut();
    await pass(0);
    expect(await ended).toBe("done");
    expect(told).toEqual(["a", "(resuming)", "(open)", "b", "<done>"]);
    expect(lines()).toEqual(["GET /api/saves/a%2Fb/events", "GET /api/saves/a%2Fb/events run:1"]);
    expect([held(), slots.given]).toEqual([0, 0]);
  });

  it("that does not exist is lost", async () => {
    const { client } = server();
    expect(await begin((options) => followSave("x", options), { client }).ended).toBe("lost");
  });
});
