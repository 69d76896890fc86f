import { describe, expect, it } from "vitest";
import { browser, line, loaded, page, setUp } from "../../fixtures/conversationList.ts";

describe("reading", () => {
  it("goes from loading to ready", async () => {
    const { store, at, titles } = setUp();
    expect(store.state.state).toBe("loading");
    void store.load();
    await at(0).answer(page([line("a", 2), line("b", 1)]));
    expect(store.snapshot()).toMatchObject({ state: "ready", hasMore: false, trouble: undefined });
    expect(titles()).toEqual(["a", "b"]);
  });

  it("is loaded once, however many screens need it", async () => {
    const { store, asked } = setUp();
    store.loadOnce();
    store.loadOnce();
    expect(asked).toHaveLength(1);
  });

  it("reports a failure, and recovers with the next try", async () => {
    const { store, at } = setUp();
    void store.load();
    await at(0).fail(500);
    expect(store.snapshot()).toMatchObject({ state: "failed", trouble: "It is broken." });
    void store.load();
    await at(1).answer(page([]));
    expect(store.snapshot()).toMatchObject({ state: "ready", trouble: undefined });
  });

  it("keeps the list if a silent refresh fails", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    void store.touch();
    await at(-1).fail(500);
    expect(store.snapshot()).toMatchObject({ state: "ready", trouble: undefined });
    expect(titles()).toEqual(["a"]);
  });

  it("does not stay loading if a newer refresh fails", async () => {
    const { store, at } = setUp();
    void store.load();
    void store.touch();
    await at(0).answer(page([line("old", 1)]));
    expect(store.state.state).toBe("loading");
    await at(1).fail(500);
    expect(store.state.state).toBe("failed");
  });

  it("keeps unchanged line objects, so that their rows are not rendered again", async () => {
    const { store, at } = await loaded([line("a", 2), line("b", 1)]);
    const before = store.state.lines;
    void store.touch();
    await at(-1).answer(page([line("a", 2), line("b", 1, { cost: 3 })]));
    expect(store.state.lines[0]).toBe(before[0]);
    expect(store.state.lines[1]).not.toBe(before[1]);
  });
});

describe("the next page", () => {
  it("is appended, each line once", async () => {
    const { store, at, asked, titles } = await loaded([line("a", 3), line("b", 2)], "n1");
    void store.more();
    void store.more();
    expect(asked).toHaveLength(2);
    expect(at(-1).path).toContain("before=n1");
    await at(-1).answer(page([line("b", 2), line("c", 1)]));
    expect(titles()).toEqual(["a", "b", "c"]);
    expect(store.state.hasMore).toBe(false);
  });

  it("stays when the beginning is refreshed, and so does its cursor", async () => {
    const { store, at, titles } = await loaded([line("a", 4), line("b", 3)], "n1");
    void store.more();
    await at(-1).answer(page([line("c", 2)], "n2"));
    void store.touch();
    await at(-1).answer(page([line("new", 5), line("c", 4.5), line("a", 4)], "n9"));
    expect(titles()).toEqual(["new", "c", "a", "b"]);
    void store.more();
    expect(at(-1).path).toContain("before=n2");
  });

  it("leaves out lines that were deleted elsewhere", async () => {
    const { store, at, titles } = await loaded([line("a", 4), line("b", 3), line("c", 2)], "n1");
    void store.touch();
    await at(-1).answer(page([line("a", 4), line("c", 2)], "n1"));
    expect(titles()).toEqual(["a", "c"]);
    void store.touch();
    await at(-1).answer(page([line("a", 4)]));
    expect(titles()).toEqual(["a"]);
    expect(store.state.hasMore).toBe(false);
  });

  it("can be requested again after a failure", async () => {
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

  it("of another search is not added to this list", async () => {
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

describe("removing", () => {
  it("takes effect at once, even over an older response", async () => {
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

  it("is undone with an error if it fails", async () => {
    const { store, at, titles } = await loaded([line("a", 3), line("b", 2), line("c", 1)]);
    const removed = store.remove("b");
    await at(-1).fail(503);
    expect(await removed).toBe(false);
    expect(titles()).toEqual(["a", "b", "c"]);
    expect(store.snapshot().trouble).toBe("Deleting failed. It is broken.");
    store.dismiss();
    expect(store.snapshot().trouble).toBeUndefined();
  });

  it("of a missing line succeeds", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    const removed = store.remove("a");
    await at(-1).fail(404);
    expect(await removed).toBe(true);
    expect(titles()).toEqual([]);
  });
});

describe("polling", () => {
  it("continues only while something is running", async () => {
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
  it("is refreshed after a change, a new title and a deletion, without sending back", async () => {
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

  it("ignores other lists, and loads none that is not shown", async () => {
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
