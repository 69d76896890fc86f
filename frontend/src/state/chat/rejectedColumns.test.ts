import { describe, expect, it } from "vitest";
import { openChat, partAt } from "../../fixtures/chat.ts";
import { answerOf, question, unknownModel } from "../../fixtures/recovery.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import type { Chat } from "./chat.ts";
import type { Box } from "./unconfirmedMessages.ts";

describe("a column that the server rejects", () => {
  const MODELS = ["m", "bad", "n"];
  const columns = (chat: Chat) => {
    const entry = chat.state.entries[1];
    return entry?.kind === "answer"
      ? entry.beside.map(({ answer: { state } }) => [state.trace.model, state.trace.end?.code ?? "answered"])
      : [];
  };
  async function compared(models: readonly string[], box = memoryStorage()) {
    const fields = (model: string) => ({ column: models.indexOf(model) });
    const opened = openChat({ box }, { models, fields });
    opened.server.refuse = ({ model }) => (model === "bad" ? unknownModel() : undefined);
    void opened.chat.send("first");
    await settle();
    await settle();
    for (const asked of opened.server.asked) await asked.send(content(asked.body.model), done());
    return { ...opened, box };
  }
  /** Reload the page. The server sends the runs that it has. */
  async function reloaded(box: Box, models: readonly string[]) {
    const after = openChat({ box });
    const runs = models
      .filter((model) => model !== "bad")
      .map((model, at) => ({ model, run: `run${at + 1}`, column: models.indexOf(model) }));
    after.server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: runs.at(-1)?.run },
      messages: [
        question("m1", "first"),
        ...runs.map(({ model, run, column }) => answerOf(run, "m1", { model, column, status: "complete" })),
      ],
    };
    await after.chat.open();
    return after;
  }

  it.each([
    ["between others", MODELS],
    ["first, before the question has a name", ["bad", "m", "n"]],
    ["beside one other alone", ["m", "bad"]],
  ])("is still there after a reload, in its place: %s", async (_, models) => {
    const { chat, box } = await compared(models);
    const before = columns(chat);
    expect(before).toEqual(models.map((model) => [model, model === "bad" ? "UNKNOWN_MODEL" : "answered"]));
    expect(columns((await reloaded(box, models)).chat)).toEqual(before);
    const after = await reloaded(box, models);
    expect(columns(after.chat)).toEqual(before);
    // The next message follows an answer, and nothing is sent again.
    void after.chat.send("next");
    await settle();
    expect(after.server.asked.map(({ body }) => body.parent_id)).toEqual(["run1"]);
  });

  it("is dropped once its model answers", async () => {
    const { server, chat, box } = await compared(MODELS);
    server.refuse = undefined;
    void chat.again(partAt(chat, 0).key, "bad");
    await settle();
    await server.asked[2]?.send(content("better"), done());
    expect(columns(chat)).toEqual(MODELS.map((model) => [model, "answered"]));
    expect(box.kept.has("signalbox.refused")).toBe(false);
  });

  it("is ignored in another conversation, or if the stored value is invalid", async () => {
    const { box } = await compared(MODELS);
    const kept = box.kept.get("signalbox.refused") ?? "";
    for (const text of [kept.replace('"c1"', '"c2"'), "{", '{"version":1,"answers":[{"model":"bad"}]}']) {
      box.kept.set("signalbox.refused", text);
      expect(columns((await reloaded(box, MODELS)).chat)).toEqual([
        ["m", "answered"],
        ["n", "answered"],
      ]);
    }
  });
});
