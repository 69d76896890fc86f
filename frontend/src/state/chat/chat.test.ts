import { ApiError } from "@signalbox/client/requests";
import { describe, expect, it } from "vitest";
import { answeredChat, conversation, openChat, partAt, shownRows } from "../../fixtures/chat.ts";
import { content, done, settle } from "../../fixtures/server.ts";

describe("sending", () => {
  it("posts only the new message, with its parent", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.send(" second ");
    await settle();
    await server.asked[1]?.send(content("two"), done({ cost: 0.5 }));
    expect(server.asked.map(({ body }) => body)).toEqual([
      {
        model: "m",
        conversation_id: "c1",
        parent_id: null,
        messages: [{ role: "user", content: "first" }],
        on_disconnect: "continue",
      },
      {
        model: "m",
        conversation_id: "c1",
        parent_id: "run1",
        messages: [{ role: "user", content: "second" }],
        on_disconnect: "continue",
      },
    ]);
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? second", "! two (complete)"]);
    expect(chat.state.cost?.usd).toBe(0.75);
    expect(new Set(server.asked.map(({ key }) => key)).size).toBe(2);
  });

  it("sends images as parts beside the text, or alone", async () => {
    const { server, chat } = openChat();
    const picture = { id: "p", name: "cat", url: "data:image/png;base64,AA==" };
    void chat.send("What is this?", [picture]);
    await settle();
    await server.asked[0]?.send(done());
    void chat.send("  ", [picture]);
    await settle();
    const shownPicture = { type: "image_url", image_url: { url: picture.url } };
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual([
      [{ type: "text", text: "What is this?" }, shownPicture],
      [shownPicture],
    ]);
  });

  it("does not send an empty message", async () => {
    const { server, chat } = openChat();
    await chat.send("  \n ");
    expect(server.asked).toEqual([]);
    expect(chat.state.status).toBe("new");
  });

  it("sends the system prompt when it changes, and an empty one to remove it", async () => {
    const { server, chat } = await answeredChat("first", {}, { system: "Be short." });
    void chat.send("second");
    await settle();
    await server.asked[1]?.send(content("two"), done());
    chat.setSystem("");
    void chat.send("third");
    await settle();
    expect(server.asked.map(({ body }) => body.system)).toEqual(["Be short.", undefined, ""]);
  });

  it("keeps the system prompt of an old conversation, whatever the default", async () => {
    const { server, chat } = openChat({}, { system: "For new chats." });
    server.conversation = conversation({ system: "Of old." });
    await chat.open();
    void chat.send("next");
    await settle();
    expect(chat.system).toBe("Of old.");
    expect(server.asked[0]?.body.system).toBeUndefined();
  });

  it("shows the question and a running answer before the server responds", () => {
    const { chat } = openChat();
    void chat.send("first");
    return Promise.resolve().then(() => {
      expect(shownRows(chat)).toEqual(["? first", "!  (running)"]);
      expect(chat.state.running).toBe(true);
    });
  });

  it("keeps a rejected question as a version beside the next one", async () => {
    const { server, chat } = await answeredChat("first");
    server.refuse = () => new ApiError(422, "UNKNOWN_MODEL", "There is no model m.");
    await chat.send("second");
    expect(shownRows(chat).at(-1)).toBe("!  (error)");
    server.refuse = undefined;
    void chat.send("third");
    await settle();
    expect(server.asked[1]?.body.parent_id).toBe("run1");
    const question = chat.state.entries[2];
    expect(
      question?.kind === "question" && question.alternatives.map((part) => part.kind === "question" && part.text),
    ).toEqual(["second", "third"]);
  });

  it("posts a question again if it is retried after a rejection", async () => {
    const { server, chat } = openChat();
    server.refuse = () => new ApiError(503, "STORE_UNAVAILABLE", "The disk is full.");
    await chat.send("first");
    server.refuse = undefined;
    void chat.again(partAt(chat, 0).key);
    await settle();
    expect(server.asked[0]?.body).toMatchObject({ parent_id: null, messages: [{ content: "first" }] });
  });
});

describe("branches", () => {
  it("an edited question is a version beside the old one, with the same parent", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.edit(partAt(chat, 0).key, "better");
    await settle();
    await server.asked[1]?.send(content("well"), done());
    expect(server.asked[1]?.body).toMatchObject({ parent_id: null, messages: [{ content: "better" }] });
    expect(shownRows(chat)).toEqual(["? better", "! well (complete)"]);
    chat.choose("missing");
    chat.choose(chat.state.entries[0]?.alternatives[0]?.key ?? "");
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)"]);
    expect(server.changed).toEqual([{ path: "/api/conversations/c1", body: { leaf_id: "run1" } }]);
  });

  it("a regenerated answer is a version beside the old one, and the next question follows it", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.again(partAt(chat, 0).key, "other/model");
    await settle();
    await server.asked[1]?.send(content("again"), done());
    expect(server.asked[1]?.body).toEqual({
      model: "other/model",
      conversation_id: "c1",
      parent_id: "m1",
      on_disconnect: "continue",
    });
    expect(chat.state.entries[1]?.alternatives).toHaveLength(2);
    void chat.send("next");
    await settle();
    expect(server.asked[2]?.body.parent_id).toBe("run2");
  });
});

describe("side by side", () => {
  const MODELS = ["a", "b", "c", "d"];

  it("sends the message once, and requests the other answers by its id", async () => {
    const { server, chat } = openChat({}, { models: MODELS });
    void chat.send("first");
    await settle();
    await settle();
    expect(
      server.asked.map(({ body: { model, parent_id, messages } }) => [model, parent_id, messages?.length]),
    ).toEqual([
      ["a", null, 1],
      ["b", "m1", undefined],
      ["c", "m1", undefined],
      ["d", "m1", undefined],
    ]);
    const entry = chat.state.entries[1];
    expect(entry?.kind === "answer" && entry.beside.map(({ answer }) => answer.state.trace.model)).toEqual(MODELS);
  });

  it("is running until the last answer has ended, and a stop ends all", async () => {
    const { server, chat } = openChat({}, { models: ["a", "b"] });
    void chat.send("first");
    await settle();
    await settle();
    await server.asked[0]?.send(content("a"), done());
    expect(chat.state.running).toBe(true);
    void chat.stop();
    await settle();
    expect(server.stopped).toEqual(["/api/runs/run2/stop"]);
    await server.asked[1]?.send(done({ status: "cancelled" }));
    expect(chat.state.running).toBe(false);
  });

  it("continues with the other models if the first is rejected", async () => {
    const { server, chat } = openChat({}, { models: ["bad", "b"] });
    server.refuse = ({ model }) => (model === "bad" ? new ApiError(422, "UNKNOWN_MODEL", "No.") : undefined);
    void chat.send("first");
    await settle();
    await settle();
    expect(server.asked[0]?.body).toMatchObject({ model: "b", parent_id: null, messages: [{ content: "first" }] });
    expect(chat.state.entries[1]?.kind).toBe("answer");
    // The next message follows the existing answer.
    await server.asked[0]?.send(content("b"), done());
    void chat.send("next");
    await settle();
    expect(server.asked[1]?.body.parent_id).toBe("run1");
  });

  it("the next question follows the chosen answer", async () => {
    const { server, chat } = openChat({}, { models: ["a", "b"] });
    void chat.send("first");
    await settle();
    await settle();
    for (const asked of server.asked) await asked.send(content("x"), done());
    const entry = chat.state.entries[1];
    if (entry?.kind !== "answer") throw new Error("no answer");
    chat.choose(entry.beside[1]?.key ?? "");
    void chat.send("next");
    await settle();
    expect(server.asked[2]?.body.parent_id).toBe("run2");
  });
});
