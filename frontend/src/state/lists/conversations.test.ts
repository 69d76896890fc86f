import { afterEach, describe, expect, it } from "vitest";
import type { ApiClient } from "../../stream/client.ts";
import { ApiError } from "../../stream/errors.ts";
import { Conversations } from "./conversations.ts";
import type { Channel } from "./pagedList.ts";

interface Asked {
  method: string;
  path: string;
  body: unknown;
  answer: (body: unknown) => Promise<void>;
  fail: (status: number) => Promise<void>;
}

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

/** A server whose responses the test releases. */
function scripted() {
  const asked: Asked[] = [];
  const client: ApiClient = {
    request: (path, init = {}) =>
      new Promise((resolve, reject) => {
        asked.push({
          method: init.method ?? "GET",
          path,
          body: typeof init.body === "string" ? JSON.parse(init.body) : undefined,
          answer: (body) => {
            resolve(body instanceof Response ? body : new Response(JSON.stringify(body)));
            return settle().then(() => new Promise((done) => setImmediate(done)));
          },
          fail: (status) => {
            reject(new ApiError(status, "X", "It is broken."));
            return settle();
          },
        });
      }),
  };
  return { client, asked, at: (index: number) => asked.at(index) as Asked };
}

/** A clock that the test advances. */
function clock() {
  const timers = new Set<{ run: () => void; ms: number }>();
  return {
    later: (run: () => void, ms: number) => {
      const timer = { run, ms };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    waits: () => [...timers].map(({ ms }) => ms),
    pass: () => {
      for (const timer of [...timers]) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

/** Tabs of one browser that receive each other's messages. */
function browser() {
  const tabs: Channel[] = [];
  return (): Channel => {
    const tab: Channel = {
      onmessage: null,
      postMessage: (data) => {
        for (const other of tabs) if (other !== tab) other.onmessage?.({ data } as MessageEvent);
      },
      close: () => void tabs.splice(tabs.indexOf(tab), 1),
    };
    tabs.push(tab);
    return tab;
  };
}

const open: Conversations[] = [];
afterEach(() => {
  for (const store of open.splice(0)) store.close();
});

function setUp(channel: Channel | null = null) {
  const server = scripted();
  const time = clock();
  const saved: string[][] = [];
  const store = new Conversations({
    client: server.client,
    later: time.later,
    channel,
    schedule: (run) => run(),
    save: (...file) => saved.push(file),
  });
  open.push(store);
  const titles = () => store.snapshot().lines.map(({ title }) => title);
  return { ...server, time, store, titles, saved };
}

const line = (id: string, updated: number, more: object = {}) => ({ id, title: id, updated, ...more });
const page = (lines: readonly object[], next: string | null = null) => ({ conversations: lines, next });

/** A loaded list. */
async function loaded(lines: readonly object[], next: string | null = null, channel: Channel | null = null) {
  const set = setUp(channel);
  void set.store.load();
  await set.at(-1).answer(page(lines, next));
  return set;
}

describe("reading", () => {
  it("goes from loading to ready", async () => {
    const { store, at, titles } = setUp();
    expect(store.state.state).toBe("loading");
    void store.load();
    await at(0).answer(page([line("a", 2), line("b", 1)]));
    expect(store.snapshot()).toMatchObject({ state: "ready", hasMore: false, trouble: undefined });
    expect(titles()).toEqual(["a", "b"]);
  });

  it("is asked for once, however many screens wake it", async () => {
    const { store, asked } = setUp();
    store.loadOnce();
    store.loadOnce();
    expect(asked).toHaveLength(1);
  });

  it("says why it failed, and is well again with the next try", async () => {
    const { store, at } = setUp();
    void store.load();
    await at(0).fail(500);
    expect(store.snapshot()).toMatchObject({ state: "failed", trouble: "It is broken." });
    void store.load();
    await at(1).answer(page([]));
    expect(store.snapshot()).toMatchObject({ state: "ready", trouble: undefined });
  });

  it("keeps the list when a soft look at it fails", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    void store.touch();
    await at(-1).fail(500);
    expect(store.snapshot()).toMatchObject({ state: "ready", trouble: undefined });
    expect(titles()).toEqual(["a"]);
  });

  it("does not stay loading when the look that took over fails", async () => {
    const { store, at } = setUp();
    void store.load();
    void store.touch();
    await at(0).answer(page([line("old", 1)]));
    expect(store.state.state).toBe("loading");
    await at(1).fail(500);
    expect(store.state.state).toBe("failed");
  });

  it("keeps a line that has not changed as it is, so that its row is not drawn again", async () => {
    const { store, at } = await loaded([line("a", 2), line("b", 1)]);
    const before = store.state.lines;
    void store.touch();
    await at(-1).answer(page([line("a", 2), line("b", 1, { cost: 3 })]));
    expect(store.state.lines[0]).toBe(before[0]);
    expect(store.state.lines[1]).not.toBe(before[1]);
  });
});

describe("the next page", () => {
  it("is put behind, each line once", async () => {
    const { store, at, asked, titles } = await loaded([line("a", 3), line("b", 2)], "n1");
    void store.more();
    void store.more();
    expect(asked).toHaveLength(2);
    expect(at(-1).path).toContain("before=n1");
    await at(-1).answer(page([line("b", 2), line("c", 1)]));
    expect(titles()).toEqual(["a", "b", "c"]);
    expect(store.state.hasMore).toBe(false);
  });

  it("stays when the beginning is read anew, and so does its cursor", async () => {
    const { store, at, titles } = await loaded([line("a", 4), line("b", 3)], "n1");
    void store.more();
    await at(-1).answer(page([line("c", 2)], "n2"));
    void store.touch();
    await at(-1).answer(page([line("new", 5), line("c", 4.5), line("a", 4)], "n9"));
    expect(titles()).toEqual(["new", "c", "a", "b"]);
    void store.more();
    expect(at(-1).path).toContain("before=n2");
  });

  it("leaves out what was deleted elsewhere", async () => {
    const { store, at, titles } = await loaded([line("a", 4), line("b", 3), line("c", 2)], "n1");
    void store.touch();
    await at(-1).answer(page([line("a", 4), line("c", 2)], "n1"));
    expect(titles()).toEqual(["a", "c"]);
    void store.touch();
    await at(-1).answer(page([line("a", 4)]));
    expect(titles()).toEqual(["a"]);
    expect(store.state.hasMore).toBe(false);
  });

  it("can be asked for again when it did not come", async () => {
    const { store, at, titles } = await loaded([line("a", 3)], "n1");
    void store.more();
    await at(-1).fail(500);
    expect(store.state).toMatchObject({
      hasMore: true,
      trouble: "The rest of the list could not be loaded. It is broken.",
    });
    void store.more();
    await at(-1).answer(page([line("b", 2)]));
    expect(titles()).toEqual(["a", "b"]);
  });

  it("of another search does not come into this list", async () => {
    const { store, at, titles, time } = await loaded([line("a", 3)], "n1");
    void store.more();
    const stale = at(-1);
    store.find("x");
    time.pass();
    await at(-1).answer(page([line("x", 1)], "n1"));
    await stale.answer(page([line("b", 2)]));
    expect(titles()).toEqual(["x"]);
  });
});

describe("search", () => {
  it("waits until the typing has paused", async () => {
    const { store, asked, at, time } = await loaded([line("a", 1)]);
    store.find("t");
    store.find(" to ");
    expect(store.snapshot().search).toBe(" to ");
    expect(time.waits()).toEqual([150]);
    expect(asked).toHaveLength(1);
    time.pass();
    expect(asked).toHaveLength(2);
    expect(at(-1).path).toContain("search=to&");
  });

  it("shows the newest answer, in whichever order they come", async () => {
    const { store, at, time, titles } = await loaded([line("a", 1)]);
    store.find("t");
    time.pass();
    const first = at(-1);
    store.find("to");
    time.pass();
    await at(-1).answer(page([line("tokyo", 1, { match: "Tokyo" })]));
    await first.answer(page([line("tea", 1)]));
    expect(titles()).toEqual(["tokyo"]);
  });

  it("says nothing of a failure that a newer search has overtaken", async () => {
    const { store, at, time } = await loaded([line("a", 1)]);
    store.find("t");
    time.pass();
    const first = at(-1);
    store.find("to");
    time.pass();
    await first.fail(500);
    expect(store.state).toMatchObject({ state: "loading", trouble: undefined });
    await at(-1).fail(500);
    expect(store.state).toMatchObject({ state: "failed", trouble: "It is broken." });
  });

  it("gives the whole list at once when the field is empty, and asks nothing twice", async () => {
    const { store, asked, at, time } = await loaded([line("a", 1)]);
    store.find("t");
    store.find("");
    time.pass();
    expect(asked).toHaveLength(1);
    store.find("t");
    time.pass();
    store.find("");
    expect(asked).toHaveLength(3);
    expect(at(-1).path).not.toContain("search");
  });
});

describe("removing", () => {
  it("is seen at once and stays, also in an answer that was on its way", async () => {
    const { store, at, titles } = await loaded([line("a", 2), line("b", 1)]);
    void store.touch();
    const onItsWay = at(-1);
    const removed = store.remove("a");
    expect(titles()).toEqual(["b"]);
    expect(at(-1)).toMatchObject({ method: "DELETE", path: "/api/conversations/a" });
    await at(-1).answer({ deleted: true, saves_kept: 0 });
    expect(await removed).toBe(true);
    await onItsWay.answer(page([line("a", 2), line("b", 1)]));
    expect(titles()).toEqual(["b"]);
  });

  it("is taken back with a word when it fails, at the place where it was", async () => {
    const { store, at, titles } = await loaded([line("a", 3), line("b", 2), line("c", 1)]);
    const removed = store.remove("b");
    await at(-1).fail(503);
    expect(await removed).toBe(false);
    expect(titles()).toEqual(["a", "b", "c"]);
    expect(store.snapshot().trouble).toBe("Deleting failed. It is broken.");
    store.dismiss();
    expect(store.snapshot().trouble).toBeUndefined();
  });

  it("of what is gone already is done", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    const removed = store.remove("a");
    await at(-1).fail(404);
    expect(await removed).toBe(true);
    expect(titles()).toEqual([]);
  });
});

describe("renaming", () => {
  it("is seen at once, and an older answer does not undo it", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    void store.touch();
    const onItsWay = at(-1);
    void store.rename("a", "  Tokyo \n trip ");
    expect(titles()).toEqual(["Tokyo trip"]);
    const change = at(-1);
    expect(change).toMatchObject({ method: "PATCH", body: { title: "Tokyo trip" } });
    void store.touch();
    await at(-1).answer(page([line("a", 1)]));
    expect(titles()).toEqual(["Tokyo trip"]);
    void store.touch();
    const late = at(-1);
    await change.answer({});
    await onItsWay.answer(page([line("a", 1)]));
    await late.answer(page([line("a", 1)]));
    expect(titles()).toEqual(["Tokyo trip"]);
  });

  it("is taken back with a word when it fails", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    void store.rename("a", "b");
    await at(-1).fail(500);
    expect(titles()).toEqual(["a"]);
    expect(store.state.trouble).toBe("The conversation could not be renamed. It is broken.");
  });

  it("to nothing, or to the same, asks nothing", async () => {
    const { store, asked } = await loaded([line("a", 1)]);
    await store.rename("a", "  ");
    await store.rename("a", " a ");
    expect(asked).toHaveLength(1);
  });

  it("asks for no longer title than the server takes", async () => {
    const { store, at } = await loaded([line("a", 1)]);
    void store.rename("a", "🦊".repeat(300));
    expect(at(-1).body).toEqual({ title: "🦊".repeat(200) });
  });
});

describe("polling", () => {
  it("goes on only while something runs", async () => {
    const { at, time, asked } = await loaded([line("a", 1, { is_running: true })]);
    expect(time.waits()).toEqual([5000]);
    time.pass();
    await at(-1).answer(page([line("a", 1, { is_running: true })]));
    expect(time.waits()).toEqual([5000]);
    time.pass();
    await at(-1).fail(500);
    expect(time.waits()).toEqual([5000]);
    time.pass();
    await at(-1).answer(page([line("a", 1)]));
    expect(time.waits()).toEqual([]);
    expect(asked).toHaveLength(4);
  });

  it("ends when the list is closed", async () => {
    const { store, time } = await loaded([line("a", 1, { is_running: true })]);
    store.close();
    expect(time.waits()).toEqual([]);
  });
});

describe("another tab", () => {
  it("follows a touch, a new title and a deletion, and does not answer back", async () => {
    const tab = browser();
    const one = await loaded([line("a", 2), line("b", 1)], null, tab());
    const other = await loaded([line("a", 2), line("b", 1)], null, tab());
    void one.store.touch();
    expect(other.asked).toHaveLength(2);
    await other.at(-1).answer(page([line("new", 3), line("a", 2), line("b", 1)]));
    expect(other.titles()).toEqual(["new", "a", "b"]);
    expect(one.asked).toHaveLength(2);
    void one.store.rename("a", "x");
    await one.at(-1).answer({});
    expect(other.asked).toHaveLength(3);
    void one.store.remove("b");
    await one.at(-1).answer({ deleted: true });
    expect(other.asked).toHaveLength(4);
  });

  it("hears nothing of other lists, and reads none that nobody looks at", async () => {
    const tab = browser();
    const speaker = tab();
    const { asked } = await loaded([], null, tab());
    speaker.postMessage({ changed: "saves" });
    speaker.postMessage(null);
    expect(asked).toHaveLength(1);
    const asleep = setUp(tab());
    speaker.postMessage({ changed: "conversations" });
    expect(asleep.asked).toHaveLength(0);
  });
});

describe("export", () => {
  it("puts the server's file into the downloads", async () => {
    const { store, at, saved } = await loaded([line("a", 1)]);
    const exported = store.export("a", "markdown");
    const headers = { "content-type": "text/markdown", "content-disposition": 'attachment; filename="a.md"' };
    await at(-1).answer(new Response("# a", { headers }));
    await exported;
    expect(saved).toEqual([["a.md", "text/markdown", "# a"]]);
  });

  it("says so when there is none", async () => {
    const { store, at, saved } = await loaded([line("a", 1)]);
    const exported = store.export("a", "json");
    await at(-1).fail(500);
    await exported;
    expect(saved).toEqual([]);
    expect(store.state.trouble).toBe("The conversation could not be exported. It is broken.");
  });
});
