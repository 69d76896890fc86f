import { ApiError } from "@signalbox/client/requests";
import { describe, expect, it } from "vitest";
import { answeredChat, holdQuestions, openChat, partAt, shownRows } from "../../fixtures/chat.ts";
import { answerOf, pendingIn, question, unknownModel, unreachable } from "../../fixtures/recovery.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import type { Chat } from "./chat.ts";

describe("an unconfirmed message", () => {
  it("is sent again under its key after a reload, and dropped once it has an id", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unreachable;
    void chat.send("first");
    await settle();
    const [pending] = pendingIn(box);
    expect(pending?.text).toBe("first");
    const after = openChat({ box });
    void after.chat.open();
    await settle();
    expect(after.server.asked.map(({ key }) => key)).toEqual([pending?.asks[0]?.key]);
    expect(after.server.asked[0]?.body).toEqual(pending?.asks[0]?.body);
    expect(pendingIn(box)).toEqual([]);
    expect(shownRows(after.chat)).toEqual(["? first", "!  (running)"]);
  });

  it("is shown in place when sent again, and the next message follows it", async () => {
    const box = memoryStorage();
    const before = await answeredChat("f", { box });
    before.server.refuse = unreachable;
    await before.chat.send("r1");
    const { server, chat } = openChat({ box });
    const told = [question("m1", "f"), answerOf("run-f", "m1", { text: "so", status: "complete" })];
    const request = server.request.bind(server);
    server.request = () => Promise.reject(new ApiError(500, "INTERNAL_ERROR", "It failed."));
    await chat.open();
    server.request = request;
    const [pending] = pendingIn(box);
    told[1] = { ...told[1], id: pending?.parentId, run_id: pending?.parentId } as (typeof told)[1];
    server.conversation = { id: "c1", title: "", leaf_id: pending?.parentId, messages: told };
    void chat.open();
    await settle();
    expect(shownRows(chat)).toEqual(["? f", "! so (complete)", "? r1", "!  (running)"]);
    await server.asked[0]?.send(content("one"), done());
    void chat.send("after");
    await settle();
    expect(server.asked.map(({ body }) => body.parent_id)).toEqual([pending?.parentId, "run1"]);
  });

  it("is sent again under its key by Retry, so that it is executed once", async () => {
    const { server, chat } = openChat({ box: memoryStorage() });
    const keys: (string | null)[] = [];
    server.refuse = (_, key) => {
      keys.push(key);
      return unreachable();
    };
    await chat.send("first");
    await chat.again(partAt(chat, 0).key);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it("returns to the message box if it is old", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unreachable;
    await chat.send("first");
    const kept = JSON.parse(box.kept.get("signalbox.pending") ?? "");
    kept.questions[0].asked -= 120_000;
    box.kept.set("signalbox.pending", JSON.stringify(kept));
    const after = openChat({ box });
    await after.chat.open();
    expect(after.server.asked).toEqual([]);
    expect(after.chat.state.returned).toEqual({ text: "first", pictures: [] });
    expect([shownRows(after.chat), pendingIn(box)]).toEqual([[], []]);
  });

  it("is followed if the server has it, and only the missing model is requested", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box }, { models: ["m", "n"] });
    server.refuse = unreachable;
    void chat.send("first");
    await settle();
    const after = openChat({ box });
    after.server.conversation = {
      id: "c1",
      title: "T",
      leaf_id: "r",
      messages: [question("q", "first"), answerOf("r", "q")],
    };
    void after.chat.open();
    await settle();
    expect(after.server.asked.map(({ body: { model, parent_id, messages } }) => [model, parent_id, messages])).toEqual([
      ["n", "q", undefined],
    ]);
    expect(after.server.followed.map(({ path }) => path)).toEqual(["/api/runs/r/events"]);
  });

  it("is answered by the missing model under the key of its first request, so that there is one run", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box }, { models: ["m", "n"] });
    const keys: (string | null)[] = [];
    server.refuse = ({ model }, key) => {
      if (model === "m") return undefined;
      keys.push(key);
      return unreachable();
    };
    void chat.send("first");
    await settle();
    await settle();
    const [first] = server.asked;
    const after = openChat({ box });
    after.server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: "run1" },
      messages: [question("m1", "first"), answerOf("run1", "m1")],
    };
    void after.chat.open();
    await settle();
    expect(first?.body.model).toBe("m");
    expect(after.server.asked.map(({ body, key }) => [body.model, body.parent_id, key])).toEqual([
      ["n", "m1", keys[0]],
    ]);
  });

  it("is not sent to another model, because the first may be working on it", async () => {
    const { server, chat } = openChat({ box: memoryStorage() }, { models: ["m", "n"] });
    const asked: string[] = [];
    server.refuse = ({ model }) => {
      asked.push(model);
      return unreachable();
    };
    await chat.send("first");
    expect(asked).toEqual(["m"]);
    const entry = chat.state.entries[1];
    expect(entry?.kind === "answer" && entry.beside.map(({ answer }) => answer.isOver)).toEqual([true, true]);
  });
});

describe("a question that the server rejected", () => {
  it("is never sent again automatically, and returns to the message box after a reload", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unknownModel;
    await chat.send("first");
    const after = openChat({ box });
    await after.chat.open();
    expect(after.server.asked).toEqual([]);
    expect(after.chat.state.returned?.text).toBe("first");
    expect([shownRows(after.chat), pendingIn(box)]).toEqual([[], []]);
  });

  it("is dropped once it or another message was sent successfully", async () => {
    for (const go of [(chat: Chat) => chat.again(partAt(chat, 0).key), (chat: Chat) => chat.send("other")]) {
      const box = memoryStorage();
      const { server, chat } = openChat({ box });
      server.refuse = unknownModel;
      await chat.send("first");
      expect(pendingIn(box)).toHaveLength(1);
      server.refuse = undefined;
      void go(chat);
      await settle();
      expect(pendingIn(box)).toEqual([]);
    }
  });
});

describe("a question that was stopped before it had an id", () => {
  it("is not sent again after a reload, and its run is stopped if there is one", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.request = () => new Promise(() => undefined);
    void chat.send("first");
    await settle();
    void chat.stop();
    await settle();
    expect(pendingIn(box).flatMap(({ asks }) => asks.map(({ stopped }) => stopped))).toEqual([true]);
    const after = openChat({ box });
    after.server.conversation = {
      id: "c1",
      title: "T",
      leaf_id: "r",
      messages: [question("q", "first"), answerOf("r", "q")],
    };
    await after.chat.open();
    await settle();
    expect(after.server.asked).toEqual([]);
    expect(after.server.stopped).toEqual(["/api/runs/r/stop"]);
    expect(pendingIn(box)).toEqual([]);
  });

  it("is not sent to the other models", async () => {
    const { server, chat } = openChat({ stopGraceMs: 0 }, { models: ["m", "n"] });
    const answer = holdQuestions(server);
    void chat.send("first");
    await settle();
    void chat.stop();
    await settle();
    answer();
    await settle();
    await settle();
    expect([server.asked.map(({ body }) => body.model), server.stopped]).toEqual([["m"], ["/api/runs/run1/stop"]]);
    expect(chat.state.running).toBe(false);
  });
});

describe("a question that the conversation contains before its response has arrived", () => {
  it("is the same question and run, without duplicates", async () => {
    const { server, chat } = await answeredChat("first");
    const answer = holdQuestions(server);
    void chat.send("second");
    await settle();
    const told = [question("m1", "first"), answerOf("run1", "m1", { status: "complete", text: "to first" })];
    server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: "run2" },
      messages: [...told, question("m2", "second", "run1"), answerOf("run2", "m2")],
    };
    await chat.refresh();
    answer();
    await settle();
    await chat.refresh();
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? second", "!  (running)"]);
    expect(chat.state.entries.map(({ alternatives }) => alternatives.length)).toEqual([1, 1, 1, 1]);
  });
});
