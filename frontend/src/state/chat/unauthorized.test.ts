import { ApiError } from "@signalbox/client/requests";
import { describe, expect, it } from "vitest";
import { answeredChat, openChat, partAt, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import { sendAfterToken, UnconfirmedMessages } from "./unconfirmedMessages.ts";

const noToken = () => new ApiError(401, "UNAUTHORIZED", "An access token is required.");
const fatesIn = (box: ReturnType<typeof memoryStorage>) =>
  new UnconfirmedMessages(box, "c1").all().map(({ fate }) => fate);
const answerNode = (model: string) => ({
  ...{ id: "c1", title: "", leaf_id: "run1" },
  messages: [
    { id: "m1", parent_id: null, role: "user", created: 1, text: "first", parts: [], system: null },
    {
      ...{ id: "run1", parent_id: "m1", role: "assistant", created: 2, text: "to first", run_id: "run1" },
      ...{ status: "length", model, loop: "v2", cost: 0.25, steps: 1 },
    },
  ],
});

describe("a question that needs a token", () => {
  it("is stored, and sent once under its key after the token was entered", async () => {
    const box = memoryStorage();
    const before = openChat({ box });
    const keys: (string | null)[] = [];
    before.server.refuse = (_, key) => {
      keys.push(key);
      return noToken();
    };
    await before.chat.send("first");
    expect(fatesIn(box)).toEqual(["unauthorized"]);
    sendAfterToken(box);
    for (const asked of [keys, []]) {
      const { server, chat } = openChat({ box });
      void chat.open();
      await settle();
      expect(server.asked.map(({ key }) => key)).toEqual(asked);
    }
  });

  it("is sent however late the token is entered, and asks again after a wrong one", async () => {
    const box = memoryStorage();
    const before = openChat({ box });
    before.server.refuse = noToken;
    await before.chat.send("first");
    box.setItem("signalbox.pending", (box.kept.get("signalbox.pending") ?? "").replace(/"asked":\d+/, '"asked":1'));
    for (const isRight of [false, true]) {
      sendAfterToken(box);
      let wanted = 0;
      const { server, chat } = openChat({ box, onUnauthorized: () => wanted++ });
      if (!isRight) server.refuse = noToken;
      void chat.open();
      await settle();
      expect([wanted, server.asked.length]).toEqual(isRight ? [0, 1] : [1, 0]);
    }
  });

  it("returns to the message box if no token was entered", async () => {
    const box = memoryStorage();
    const before = openChat({ box });
    before.server.refuse = noToken;
    await before.chat.send("first");
    const { server, chat } = openChat({ box });
    await chat.open();
    expect(server.asked).toEqual([]);
    expect(chat.state.returned?.text).toBe("first");
  });

  it("is sent to all compared models again, because all were rejected", async () => {
    const box = memoryStorage();
    const before = openChat({ box }, { models: ["m", "n"] });
    const tried: string[] = [];
    before.server.refuse = ({ model }) => {
      tried.push(model);
      return noToken();
    };
    await before.chat.send("first");
    expect(tried).toEqual(["m"]);
    const entry = before.chat.state.entries[1];
    const ends = entry?.kind === "answer" && entry.beside.map(({ answer }) => answer.state.trace.end?.code);
    expect(ends).toEqual(["UNAUTHORIZED", "UNAUTHORIZED"]);
    sendAfterToken(box);
    const { server, chat } = openChat({ box });
    void chat.open();
    await settle();
    await settle();
    expect(server.asked.map(({ body: { model, messages } }) => [model, messages?.length])).toEqual([
      ["m", 1],
      ["n", undefined],
    ]);
  });

  it("is sent only to the rejected models if the others have started", async () => {
    const box = memoryStorage();
    const before = openChat({ box }, { models: ["m", "n"] });
    before.server.refuse = ({ model }) => (model === "n" ? noToken() : undefined);
    void before.chat.send("first");
    await settle();
    await settle();
    expect(fatesIn(box)).toEqual(["unauthorized"]);
    sendAfterToken(box);
    const { server, chat } = openChat({ box });
    server.conversation = answerNode("m");
    void chat.open();
    await settle();
    expect(server.asked.map(({ body: { model, parent_id } }) => [model, parent_id])).toEqual([["n", "m1"]]);
  });

  it("is regenerated, edited or continued as requested", async () => {
    const acts = {
      again: [{ parent_id: "m1" }, "? first"],
      edit: [{ parent_id: null, messages: [{ role: "user", content: "better" }] }, "? better"],
      continue: [{ parent_id: "run1", continue: true }, "? first"],
    } as const;
    for (const [act, [body, question]] of Object.entries(acts)) {
      const box = memoryStorage();
      const before = await answeredChat("first", { box });
      before.server.refuse = noToken;
      if (act === "again") await before.chat.again(partAt(before.chat, 0).key);
      else if (act === "edit") await before.chat.edit(partAt(before.chat, 0).key, "better");
      else await before.chat.continueAnswer(partAt(before.chat, 1).key);
      expect(fatesIn(box)).toEqual(["unauthorized"]);
      sendAfterToken(box);
      const { server, chat } = openChat({ box });
      server.conversation = answerNode("m");
      void chat.open();
      await settle();
      expect(server.asked.map((asked) => asked.body)).toMatchObject([body]);
      await server.asked[0]?.send(content("now"), done());
      expect(shownRows(chat)).toEqual([question, expect.stringMatching(/now \(complete\)$/)]);
      expect(fatesIn(box)).toEqual([]);
    }
  });
});

describe("an answer that the server rejects for good", () => {
  it("is not requested again by a reload", async () => {
    const box = memoryStorage();
    const before = await answeredChat("first", { box });
    before.server.refuse = () => new ApiError(422, "UNKNOWN_MODEL", "There is no such model.");
    await before.chat.again(partAt(before.chat, 0).key);
    const { server, chat } = openChat({ box });
    server.conversation = answerNode("m");
    await chat.open();
    expect([server.asked, fatesIn(box)]).toEqual([[], []]);
  });
});
