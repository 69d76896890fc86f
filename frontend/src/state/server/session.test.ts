// @vitest-environment jsdom

import { ApiError } from "@signalbox/client/requests";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openChat } from "../../fixtures/chat.ts";
import { sendBlocker } from "../chat/sendBlocker.ts";
import { UnconfirmedMessages } from "../chat/unconfirmedMessages.ts";
import { Session, writeAdminToken } from "./session.ts";

const fates = () => new UnconfirmedMessages(sessionStorage, "c1").all().map(({ fate, promised }) => [fate, promised]);

/** Store a message that was rejected for its token. */
async function turnedAway(): Promise<void> {
  const { server, chat } = openChat({ box: sessionStorage });
  server.refuse = () => new ApiError(401, "UNAUTHORIZED", "An access token is required.");
  await chat.send("first");
}

/** The status of all further responses. */
let status = 200;
const answering = (next: number) => {
  status = next;
};

beforeEach(() => {
  vi.stubGlobal("fetch", async () =>
    status === 401
      ? Response.json({ error: { code: "UNAUTHORIZED", message: "No." } }, { status })
      : Response.json({ tools: [], models: [] }),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
  localStorage.clear();
});

describe("the list of tools", () => {
  it("can be waited for", async () => {
    const arrived = Promise.withResolvers<void>();
    vi.stubGlobal("fetch", async (url: string) => {
      if (String(url).includes("/api/tools")) await arrived.promise;
      return Response.json({ tools: [{ name: "create_file" }], models: [] });
    });
    const session = new Session(vi.fn());
    session.load();
    const listed = session.toolsListed().then(() => session.state.tools.map(({ name }) => name));
    arrived.resolve();
    expect(await listed).toEqual(["create_file"]);
  });
});

describe("a token that the user enters", () => {
  it("lets rejected messages be sent after the reload, if the server accepts it", async () => {
    await turnedAway();
    const reload = vi.fn();
    const session = new Session(reload);
    answering(401);
    await session.takeToken("wrong", false);
    expect([fates(), reload.mock.calls.length]).toEqual([[["unauthorized", undefined]], 0]);
    answering(200);
    await session.takeToken("right", false);
    expect([fates(), reload.mock.calls.length]).toEqual([[["asked", true]], 1]);
  });

  it("that is removed sends nothing", async () => {
    await turnedAway();
    const session = new Session(vi.fn());
    session.forgetToken();
    expect(fates()).toEqual([["unauthorized", undefined]]);
  });
});

describe("messages of a page that has no token", () => {
  const rest = { network: { offline: false }, ask: { model: "m", toolsOff: [] }, compared: [] };

  it("are held without a dialog while the operator token opens a run", async () => {
    answering(401);
    writeAdminToken("operator");
    location.hash = "run=r1";
    try {
      const session = new Session(vi.fn());
      session.load();
      await expect.poll(() => sendBlocker({ ...rest, server: session.state })).toBe("token");
      expect(session.state.tokenNeeded).toBe(false);
      session.askForToken();
      await expect.poll(() => session.state.tokenNeeded).toBe(true);
    } finally {
      writeAdminToken("");
      location.hash = "";
    }
  });

  it("are held, even after the dialog is closed, until the server responds", async () => {
    answering(401);
    const session = new Session(vi.fn());
    session.load();
    await expect.poll(() => session.state.tokenNeeded).toBe(true);
    session.dismissToken();
    expect(sendBlocker({ ...rest, server: session.state })).toBe("token");
    answering(200);
    session.reload();
    await expect.poll(() => sendBlocker({ ...rest, server: session.state })).toBeUndefined();
  });
});
