import { describe, expect, it } from "vitest";
import type { Page } from "../../logic/pages/pagedLog.ts";
import { PagedLog } from "./pagedLog.ts";

/** A log whose pages have two letters. The cursor is the last letter. */
function logOf(server: { letters: string; isDown: boolean }) {
  const fetchPage = async (before: string | undefined): Promise<Page<string>> => {
    if (server.isDown) throw new Error("Signalbox is not responding.");
    const start = before === undefined ? 0 : server.letters.indexOf(before) + 1;
    const items = [...server.letters.slice(start, start + 2)];
    return { items, next: start + 2 < server.letters.length ? items.at(-1) : undefined };
  };
  return new PagedLog<string>({ fetchPage, idOf: (letter) => letter });
}

const shown = (log: PagedLog<string>) => [log.state.items?.join(""), log.state.next];

describe("a log with pages", () => {
  it("keeps older entries over a refresh, and gets the new ones", async () => {
    const server = { letters: "dcba", isDown: false };
    const log = logOf(server);
    expect(shown(log)).toEqual([undefined, undefined]);
    await log.load();
    expect(shown(log)).toEqual(["dc", "c"]);
    await log.loadOlder();
    expect(shown(log)).toEqual(["dcba", undefined]);
    server.letters = "edcba";
    await log.load();
    expect(shown(log)).toEqual(["edcba", undefined]);
  });

  it("starts over if entries are missing in between", async () => {
    const server = { letters: "dcba", isDown: false };
    const log = logOf(server);
    await log.load();
    await log.loadOlder();
    server.letters = "hgfedcba";
    await log.load();
    expect(shown(log)).toEqual(["hg", "g"]);
  });

  it("keeps what it has if the server does not respond, and recovers", async () => {
    const server = { letters: "cba", isDown: false };
    const log = logOf(server);
    await log.load();
    server.isDown = true;
    await log.loadOlder();
    expect(log.state).toMatchObject({ trouble: "Signalbox is not responding.", isFetchingOlder: false });
    expect(shown(log)).toEqual(["cb", "b"]);
    server.isDown = false;
    await log.load();
    expect(log.state.trouble).toBeUndefined();
  });
});
