import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { contentFrame, doneFrame, HEAD } from "../fixtures/serve.ts";
import type { ChatBody, ChatEvent } from "../types/models.ts";
import type { ApiClient } from "./client.ts";
import { type Slots, type Turn, turnOver } from "./connectionSlots.ts";
import { ApiError } from "./errors.ts";
import { type ChatOptions, followRun, followSave, postChat } from "./runStream.ts";
import type { Page } from "./sleep.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const BODY = { model: "m", on_disconnect: "continue" } as ChatBody;

/** A response that lasts until the test or the page ends it. */
class Live {
  isLeft = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly response: Response;

  constructor(headers: Record<string, string> = HEAD) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.isLeft = true;
      },
    });
    this.response = new Response(body, { headers });
  }

  say(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#controller?.close();
  }

  cut(reason: unknown = new TypeError("network")): void {
    this.#controller?.error(reason);
  }
}

/** No response headers arrive. */
const SILENCE = "silence";
type Said = Live | Response | ApiError | typeof SILENCE;
type Answer = Said | (() => Said);
const news = (...frames: string[]): Response => new Response(frames.join(""), { headers: HEAD });

interface Asked {
  line: string;
  at: number;
}

/** The response of a captive portal. */
const portal = (): Live => new Live({ "content-type": "text/html" });

/** Sends the responses in order and records the requests. */
function server(...answers: Answer[]): { client: ApiClient; asked: Asked[]; lines: () => string[] } {
  const asked: Asked[] = [];
  const begun = Date.now();
  const client: ApiClient = {
    async request(path, init = {}) {
      init.signal?.throwIfAborted();
      const id = new Headers(init.headers).get("last-event-id");
      asked.push({ line: `${init.method ?? "GET"} ${path}${id ? ` ${id}` : ""}`, at: Date.now() - begun });
      const next = answers[asked.length - 1] ?? new ApiError(404, "UNKNOWN_RUN", "No.");
      const answer = typeof next === "function" ? next() : next;
      if (answer instanceof ApiError) throw answer;
      if (answer instanceof Response) return answer;
      if (answer === SILENCE) return silence(init.signal);
      init.signal?.addEventListener("abort", () => answer.cut(init.signal?.reason));
      return answer.response;
    },
  };
  return { client, asked, lines: () => asked.map(({ line }) => line) };
}

const silence = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

/** Slots that count how many are in use. */
class Places implements Slots {
  free: number;
  given = 0;

  constructor(free: number) {
    this.free = free;
  }

  async acquire() {
    if (this.free === 0) return undefined;
    this.free -= 1;
    this.given += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.free += 1;
      isHeld = false;
    };
  }
}

function turns(): { turn: Turn; held: () => number } {
  const queue = turnOver(undefined);
  let held = 0;
  const turn: Turn = async (signal) => {
    const release = await queue(signal);
    held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) held -= 1;
      isHeld = false;
      release();
    };
  };
  return { turn, held: () => held };
}

class FakePage implements Page {
  hidden = false;
  offline = false;
  readonly #listeners = new Set<() => void>();
  isHidden = () => this.hidden;
  isOffline = () => this.offline;
  onOnline(tell: () => void): () => void {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  }
  online(): void {
    this.offline = false;
    for (const tell of [...this.#listeners]) tell();
  }
  get listeners(): number {
    return this.#listeners.size;
  }
}

interface Following {
  told: string[];
  seqs: number[];
  ended: Promise<string>;
  abort: AbortController;
}

function begin(follow: (options: ChatOptions) => Promise<string>, more: Partial<ChatOptions> & { client: ApiClient }) {
  const told: string[] = [];
  const seqs: number[] = [];
  const abort = new AbortController();
  const ended = follow({
    signal: abort.signal,
    slots: new Places(4),
    turn: turns().turn,
    page: new FakePage(),
    onStart: ({ runId }) => told.push(`[${runId}]`),
    onConnection: (state) => told.push(`(${state})`),
    onEvent: (event: ChatEvent, seq) => {
      told.push(event.type === "content" ? event.content : `<${event.type}>`);
      seqs.push(seq);
    },
    ...more,
  }).then(String, (error: unknown) => `threw ${error instanceof Error ? error.message : error}`);
  const following: Following = { told, seqs, ended, abort };
  return following;
}

const asking = (more: Partial<ChatOptions> & { client: ApiClient }) =>
  begin((options) => postChat(BODY, options), more);
const rejoining = (more: Partial<ChatOptions> & { client: ApiClient }) =>
  begin((options) => followRun("run", options), more);

describe("a question when all streams are taken", () => {
  it("is asked, left to run, and looked after until its end", async () => {
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

  it("is asked each second when it takes longer, and seldom while nobody looks", async () => {
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

  it("goes over to a stream as soon as one is free, where it was", async () => {
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

  it("shares one connection with all others, and its asking waits for its turn too", async () => {
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

  it("tells of polls that fail, goes on, and gives up in the end", async () => {
    const down = new ApiError(500, "INTERNAL", "Broken.");
    const { client } = server(new Live(), news(), down, news(contentFrame(1, "a")), down, down, down);
    const { told, ended } = asking({ client, slots: new Places(0), resumeDelays: [0, 10] });
    await pass(2000);
    expect(await ended).toBe("lost");
    expect(told).toEqual(["[run]", "(polling)", "(resuming)", "(polling)", "a", "(resuming)"]);
  });

  it("is not given up while every second poll is answered", async () => {
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

  it("is lost where the server says that all was seen and no end was", async () => {
    const { client, asked } = server(new Live(), new Response(null, { status: 204 }));
    const { ended } = asking({ client, slots: new Places(0) });
    await pass(0);
    expect(await ended).toBe("lost");
    expect(asked.length).toBe(2);
  });

  it("takes no stranger's answer for a poll's", async () => {
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

describe("a question without an answer of ours", () => {
  const { "x-run-id": _, ...nameless } = HEAD;
  const { "content-type": __, ...untyped } = HEAD;
  const strangers: [string, () => Live][] = [
    ["a captive portal's page", portal],
    ["a page with our headers", () => new Live({ ...HEAD, "content-type": "text/html" })],
    ["a head that broke off before the run's name", () => new Live(nameless)],
    ["a head that broke off before its type", () => new Live(untyped)],
    ["a type that only begins like ours", () => new Live({ ...HEAD, "content-type": "text/event-streams" })],
  ];

  it("is asked again after 30 s without a head, and the body then takes what it takes", async () => {
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

  it("has as long as it is told to have, and more for much that is sent", async () => {
    const pictures = { ...BODY, messages: [{ role: "user", content: "x".repeat(320_000) }] } as ChatBody;
    for (const [body, ms] of [[BODY, 110] as const, [pictures, 10_110] as const]) {
      const { client, asked } = server(SILENCE, news(doneFrame(1)));
      const { ended } = begin((options) => postChat(body, { ...options, headMs: 100, askDelays: [10] }), { client });
      await pass(20_000);
      expect(await ended).toBe("done");
      expect(asked[1]?.at).toBe(ms);
    }
  });

  it("is given up in the end, and its place with it", async () => {
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

  it("is aborted while it waits for the head", async () => {
    const slots = new Places(1);
    const { client, asked } = server(SILENCE);
    const { ended, abort } = asking({ client, slots });
    await pass(1000);
    abort.abort();
    expect(await ended).toBe("aborted");
    await pass(100_000);
    expect([asked.length, slots.free]).toEqual([1, 1]);
  });

  it.each(strangers)("is asked again after %s, which is left", async (_, answer) => {
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

  it("is told by its code", async () => {
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

  it("has a start whatever else its type says", async () => {
    const { client } = server(
      new Response(doneFrame(1), { headers: { ...HEAD, "content-type": "Text/Event-Stream; charset=utf-8" } }),
    );
    expect(await asking({ client }).ended).toBe("done");
  });
});

describe("a stream's place is given back", () => {
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

  it("when the question is refused", async () => {
    const slots = new Places(1);
    const { client } = server(new ApiError(422, "UNKNOWN_MODEL", "No such model."));
    expect(await asking({ client, slots }).ended).toBe("threw No such model.");
    expect(slots.free).toBe(1);
  });
});

describe("a dropped run", () => {
  it("may drop as often as it likes while it brings something", async () => {
    const drops = Array.from({ length: 5 }, (_, at) => news(contentFrame(at + 1, "a")));
    const { client } = server(...drops, news(doneFrame(9)));
    const { ended } = rejoining({ client, resumeDelays: [0] });
    await pass(10);
    expect(await ended).toBe("done");
  });

  it.each([429, 503])("waits as long as a server with a %i asks for", async (status) => {
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

  it("waits no longer than five minutes, whatever the server asks for", async () => {
    const busy = new ApiError(503, "TOO_MANY_RUNS", "Too many.", undefined, 1000);
    const { client, asked } = server(busy, news(doneFrame(1)));
    const { ended } = rejoining({ client });
    await pass(299_999);
    expect(asked.length).toBe(1);
    await pass(1);
    expect(await ended).toBe("done");
  });

  it("is taken up at once when the network is back", async () => {
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

  it("leaves a connection from before the network went away", async () => {
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

  it("is asked for again when nobody answers", async () => {
    const { client, asked } = server(SILENCE, news(doneFrame(1)));
    const { ended } = rejoining({ client });
    await pass(14_999);
    expect(asked.length).toBe(1);
    await pass(2);
    expect(await ended).toBe("done");
  });

  it.each([400, 402, 403, 405, 408, 409, 425, 429, 451, 500, 502, 503])("goes on after a %i", async (status) => {
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

  it("whose token is not taken any more says so at once, and gives back its place or its turn", async () => {
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

  it("does not end by what somebody else answers in its place, and leaves that", async () => {
    const page = portal();
    const { client, lines } = server(news(contentFrame(1, "a")), page, news(contentFrame(2, "b"), doneFrame(3)));
    const { told, ended } = rejoining({ client });
    await pass(500);
    expect(await ended).toBe("done");
    expect(told).toEqual(["a", "(resuming)", "(open)", "b", "<done>"]);
    expect(lines()[2]).toBe("GET /api/runs/run/events run:1");
    expect(page.isLeft).toBe(true);
  });

  it("is lost when somebody else answers each time", async () => {
    const { client, asked } = server(...Array.from({ length: 9 }, () => portal));
    const { ended } = rejoining({ client, resumeDelays: [0, 10] });
    await pass(1000);
    expect([await ended, asked.length]).toEqual(["lost", 3]);
  });

  it("counts as dropped after 45 silent seconds, and not while the server pings", async () => {
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
  it("is read in its turn, taken up where it dropped, and takes no stream", async () => {
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

  it("that is not there is lost", async () => {
    const { client } = server();
    expect(await begin((options) => followSave("x", options), { client }).ended).toBe("lost");
  });
});
