import { describe, expect, it } from "vitest";
import { answeredChat, conversation, openChat, partAt, shownRows } from "../../fixtures/chat.ts";
import { content, done, settle } from "../../fixtures/server.ts";

describe("an old conversation", () => {
  it("shows the chosen branch, loads an answer when it comes into view, and follows a running one", async () => {
    const { server, chat } = openChat();
    server.conversation = conversation();
    await chat.open();
    expect(shownRows(chat)).toEqual(["? asked", "! answered (complete)"]);
    expect(server.followed.map(({ path }) => path)).toEqual(["/api/runs/run-b/events"]);
    const part = partAt(chat, 1);
    if (part.kind !== "answer") throw new Error("no answer");
    chat.show(part.answer);
    await settle();
    await server.followed[1]?.connection.send(
      { type: "reasoning", content: "hm" },
      content("answered"),
      done({ cost: 0.1 }),
    );
    expect(part.answer.state.known).toBe("whole");
    expect(part.answer.state.trace.items.map(({ kind }) => kind)).toEqual(["reasoning", "content"]);
    expect(part.answer.events).toHaveLength(3);
  });

  it("reports that it was deleted", async () => {
    const { chat } = openChat();
    await chat.open();
    expect(chat.state).toMatchObject({
      status: "failed",
      trouble: "This conversation was not found. It may have been deleted.",
    });
  });

  it("merges another tab's message once", async () => {
    const { server, chat } = await answeredChat("first");
    const base = { created: 1, parts: [], system: null };
    const nodes = [
      { ...base, id: "m1", parent_id: null, role: "user", text: "first" },
      {
        ...base,
        id: "run1",
        parent_id: "m1",
        role: "assistant",
        text: "to first",
        run_id: "run1",
        status: "complete",
        model: "m",
        loop: "v2",
      },
      { ...base, id: "m9", parent_id: "run1", role: "user", text: "elsewhere" },
      {
        ...base,
        id: "run9",
        parent_id: "m9",
        role: "assistant",
        text: "x",
        run_id: "run9",
        status: "complete",
        model: "m",
        loop: "v2",
      },
    ];
    server.conversation = { id: "c1", title: "T", leaf_id: "run9", messages: nodes };
    await chat.refresh();
    await chat.refresh();
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? elsewhere", "! x (complete)"]);
  });
});

describe("a conversation that is still loading", () => {
  it("queues messages until it is loaded, and sends them at the right place", async () => {
    const { server, chat } = openChat();
    let bring: () => void = () => undefined;
    const ask = server.request.bind(server);
    server.request = (path, init) =>
      path === "/api/conversations/c1"
        ? new Promise((resolve, reject) => {
            bring = () => void ask(path, init).then(resolve, reject);
          })
        : ask(path, init);
    void chat.open();
    void chat.send("next");
    await settle();
    expect([server.asked.length, chat.state.queue.length]).toEqual([0, 1]);
    bring();
    await settle();
    expect(chat.state).toMatchObject({ status: "failed", queue: [{ text: "next" }] });
    server.conversation = conversation();
    void chat.open();
    await settle();
    bring();
    await settle();
    expect(server.asked.map(({ body }) => body.parent_id)).toEqual(["run-a"]);
    expect(chat.state.queue).toEqual([]);
  });
});
