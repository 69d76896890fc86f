import { describe, expect, it, vi } from "vitest";
import { settle } from "../../fixtures/server.ts";
import { sendBlocker } from "../chat/sendBlocker.ts";
import { Connectivity } from "./connectivity.ts";

function browser(online: boolean, reached = false) {
  const events = new EventTarget();
  const state = { online, reached };
  const network = new Connectivity({
    isOffline: () => !state.online,
    events,
    reach: async () => state.reached,
    probeMs: 1,
    schedule: (run) => run(),
  });
  const go = async (to: boolean) => {
    state.online = to;
    events.dispatchEvent(new Event(to ? "online" : "offline"));
    await settle();
  };
  return { network, state, go };
}

describe("the connection", () => {
  it("follows the browser's online state", async () => {
    const { network, go } = browser(true);
    const onBack = vi.fn();
    const stop = network.start(onBack);
    await go(false);
    expect(network.state.offline).toBe(true);
    expect(onBack).not.toHaveBeenCalled();
    await go(true);
    expect(network.state.offline).toBe(false);
    expect(onBack).toHaveBeenCalledOnce();
    stop();
    await go(false);
    expect(network.state.offline).toBe(false);
  });

  it("exists if the server responds, whatever the browser says", async () => {
    const { network } = browser(false, true);
    expect(network.state.offline).toBe(true);
    const stop = network.start(() => undefined);
    await settle();
    expect(network.state.offline).toBe(false);
    stop();
  });

  it("is checked while the browser is offline", async () => {
    const { network, state } = browser(false);
    const back = Promise.withResolvers<void>();
    const stop = network.start(back.resolve);
    await settle();
    expect(network.state.offline).toBe(true);
    state.reached = true;
    await back.promise;
    expect(network.state.offline).toBe(false);
    stop();
  });
});

describe("a message is held", () => {
  const known = {
    network: { offline: false },
    server: { listing: "here" as const, preferred: "a/b", tools: [], toolsTrouble: undefined, locked: false },
    ask: { model: "", toolsOff: [] as string[] },
    compared: [] as string[],
  };
  const unlisted = { ...known.server, preferred: "" };

  it.each([
    ["nothing is missing", known, undefined],
    ["there is no connection", { ...known, network: { offline: true } }, "offline"],
    ["the server wants a token", { ...known, server: { ...unlisted, locked: true } }, "token"],
    ["the list is on its way", { ...known, server: { ...unlisted, listing: "loading" as const } }, "loading"],
    ["the list did not come", { ...known, server: { ...unlisted, listing: "failed" as const } }, "no-models"],
    ["a model is set", { ...known, server: unlisted, ask: { ...known.ask, model: "a/b" } }, undefined],
    ["models are compared", { ...known, server: unlisted, compared: ["a/b", "c/d"] }, undefined],
    ["a tool is off, and the tools are not known", { ...known, ask: { model: "a/b", toolsOff: ["x"] } }, "loading"],
    [
      "a tool is off, and the tools cannot be had",
      { ...known, server: { ...known.server, toolsTrouble: "No." }, ask: { model: "a/b", toolsOff: ["x"] } },
      undefined,
    ],
  ])("or not, where %s", (_, given, hold) => {
    expect(sendBlocker(given)).toBe(hold);
  });
});
