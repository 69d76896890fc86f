import { describe, expect, it } from "vitest";
import { line, loaded, page } from "../../fixtures/conversationList.ts";

describe("search", () => {
  it("waits until typing pauses", async () => {
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

  it("shows the newest response, in whatever order they arrive", async () => {
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

  it("hides a failure of an outdated search", async () => {
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

  it("shows the whole list at once when the field is cleared, without repeated requests", async () => {
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

describe("renaming", () => {
  it("takes effect at once, and an older response does not undo it", async () => {
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

  it("is undone with an error if it fails", async () => {
    const { store, at, titles } = await loaded([line("a", 1)]);
    void store.rename("a", "b");
    await at(-1).fail(500);
    expect(titles()).toEqual(["a"]);
    expect(store.state.trouble).toBe("The conversation could not be renamed. It is broken.");
  });

  it("to an empty or equal title sends nothing", async () => {
    const { store, asked } = await loaded([line("a", 1)]);
    await store.rename("a", "  ");
    await store.rename("a", " a ");
    expect(asked).toHaveLength(1);
  });

  it("sends no longer title than the server accepts", async () => {
    const { store, at } = await loaded([line("a", 1)]);
    void store.rename("a", "🦊".repeat(300));
    expect(at(-1).body).toEqual({ title: "🦊".repeat(200) });
  });
});

describe("export", () => {
  it("downloads the server's file", async () => {
    const { store, at, saved } = await loaded([line("a", 1)]);
    const exported = store.export("a", "markdown");
    const headers = { "content-type": "text/markdown", "content-disposition": 'attachment; filename="a.md"' };
    await at(-1).answer(new Response("# a", { headers }));
    await exported;
    expect(saved).toEqual([["a.md", "text/markdown", "# a"]]);
  });

  it("reports a failure", async () => {
    const { store, at, saved } = await loaded([line("a", 1)]);
    const exported = store.export("a", "json");
    await at(-1).fail(500);
    await exported;
    expect(saved).toEqual([]);
    expect(store.state.trouble).toBe("The conversation could not be exported. It is broken.");
  });
});
