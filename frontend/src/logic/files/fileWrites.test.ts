import { describe, expect, it } from "vitest";
import { play } from "../../fixtures/events.ts";
import type { ChatEvent } from "../../types/models.ts";
import { type FileWrite, fileWrites, growingAt, textAfter } from "./fileWrites.ts";

const meta = { category: "other", visibility: "secondary" } as const;
const piece = (key: string, text: string, name?: string): ChatEvent => ({
  type: "preview",
  id: "a",
  key,
  text,
  ...(name && { name }),
});
const called = (name: string, args: object): ChatEvent => ({
  type: "tool_calls",
  calls: [{ id: "a", name, arguments: JSON.stringify(args), ...meta }],
});
const succeeded = (name: string, version: number): ChatEvent => ({
  type: "tool_result",
  id: "a",
  name,
  result: { success: true, result: null },
  artifact: { type: "file", path: "index.html", version },
});
const failed: ChatEvent = {
  type: "tool_result",
  id: "a",
  name: "create_file",
  result: { success: false, error: "No.", code: "TOOL_FAILED" },
};
const one = (events: readonly ChatEvent[]): FileWrite | undefined => fileWrites(play(events))[0];
const text = (events: readonly ChatEvent[], stored?: string, version = 1) =>
  textAfter(fileWrites(play(events)), stored, version);

describe("a file that is being created", () => {
  const path = piece("/path", "index.html", "create_file");
  const content = piece("/content", "<p>Hel");

  it("is known once its path is complete, and has its text so far", () => {
    expect(one([path])).toBeUndefined();
    expect(one([path, content])).toMatchObject({ path: "index.html", content: "<p>Hel", isGrowing: true });
    expect(one([piece("/content", "x", "create_file")])).toBeUndefined();
  });

  it("replaces the stored text", () => {
    expect(text([path, content], "before")).toBe("<p>Hel");
  });

  it("is complete when it is announced, and has a version when it is stored", () => {
    const call = called("create_file", { path: "index.html", content: "<p>Hello" });
    expect(one([path, content, call])).toMatchObject({ content: "<p>Hello", isGrowing: false, version: undefined });
    expect(one([call, succeeded("create_file", 2)])?.version).toBe(2);
  });

  it("is forgotten if the call fails or is withdrawn", () => {
    const call = called("create_file", { path: "index.html", content: "<p>Hello" });
    expect(text([call, failed], "before")).toBe("before");
    expect(text([path, content, { type: "preview", id: "a", withdrawn: true }], "before")).toBe("before");
  });

  it("is not applied again to a stored text that contains it", () => {
    const events = [called("create_file", { path: "index.html", content: "old" }), succeeded("create_file", 2)];
    expect(text(events, "newer", 3)).toBe("newer");
    expect(text(events, "older", 1)).toBe("old");
  });
});

describe("a file that is being edited", () => {
  const path = piece("/path", "index.html", "edit_file");
  const old = piece("/edits/0/old_text", "two");

  it("changes when the new text begins, because only then the old text is complete", () => {
    expect(text([path, old], "one two three")).toBe("one two three");
    expect(text([path, old, piece("/edits/0/new_text", "2")], "one two three")).toBe("one 2 three");
    expect(text([path, old, piece("/edits/0/new_text", "$&")], "one two three")).toBe("one $& three");
  });

  it("may have the new text first, and several edits that build on each other", () => {
    const reversed = [path, piece("/new_text", "2"), piece("/old_text", "two")];
    expect(text(reversed, "one two")).toBe("one two");
    const second = [piece("/edits/1/old_text", "2 three"), piece("/edits/1/new_text", "rest")];
    expect(text([path, old, piece("/edits/0/new_text", "2"), ...second], "one two three")).toBe("one rest");
  });

  it("stays as it is where the old text is missing, and is nothing without a file", () => {
    expect(text([path, old, piece("/edits/0/new_text", "2")], "one")).toBe("one");
    expect(text([path, old, piece("/edits/0/new_text", "2")])).toBeUndefined();
  });

  it("is edited as often as the announced call says", () => {
    const call = (count: unknown) => called("edit_file", { path: "x", old_text: "a", new_text: "b", count });
    expect(text([call(undefined)], "aaa")).toBe("baa");
    expect(text([call(3)], "aaa")).toBe("bbb");
    expect(text([call("all")], "aaa")).toBe("bbb");
    expect(text([called("edit_file", { path: "x", edits: ["odd", null, { old_text: "" }] })], "aaa")).toBe("aaa");
  });

  it("says where it grows", () => {
    const write = one([path, old, piece("/edits/0/new_text", "2")]) as FileWrite;
    expect(growingAt(write, "one 2 three")).toBe(5);
    expect(growingAt({ ...write, edits: [] }, "one")).toBe(0);
    expect(growingAt({ ...write, content: "abc" }, "abc")).toBe(3);
  });
});
