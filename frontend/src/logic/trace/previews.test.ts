import type { Preview } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { calls, done, play } from "../../fixtures/events.ts";
import type { ChatEvent } from "../../types/models.ts";

const preview = (id: string, more: Partial<Preview>): ChatEvent => ({ type: "preview", id, ...more });
const first = preview("a", { name: "create_file", key: "/path", text: "index.html", step: 1 });
const START: readonly ChatEvent[] = [
  first,
  preview("a", { key: "/content", text: "<p>" }),
  preview("a", { text: "Hello" }),
];
const announced = (args: object, previewed?: Record<string, number>): ChatEvent => ({
  type: "tool_calls",
  calls: [
    {
      id: "a",
      name: "create_file",
      arguments: JSON.stringify(args),
      category: "other",
      visibility: "secondary",
      ...(previewed && { previewed }),
    },
  ],
});

describe("previews of a call", () => {
  it("join to the strings of its arguments", () => {
    expect(play(START).previews).toEqual([
      {
        id: "a",
        name: "create_file",
        step: 1,
        key: "/content",
        texts: { "/path": "index.html", "/content": "<p>Hello" },
      },
    ]);
  });

  it("of several calls are separate, in the order of their beginnings", () => {
    const { previews } = play([
      ...START,
      preview("b", { name: "edit_file", key: "/edits/0/old_text", text: "x" }),
      preview("a", { text: "!" }),
    ]);
    expect(previews?.map(({ id, key, texts }) => [id, texts[key]])).toEqual([
      ["a", "<p>Hello!"],
      ["b", "x"],
    ]);
  });

  it("are forgotten if they are withdrawn, and may begin again", () => {
    const withdrawn = preview("a", { withdrawn: true });
    expect(play([...START, withdrawn])).not.toHaveProperty("previews");
    expect(play([...START, withdrawn, first]).previews?.[0]?.texts).toEqual({ "/path": "index.html" });
    expect(play([withdrawn]).previews).toBeUndefined();
  });

  it("are ignored if the beginning is missing", () => {
    expect(play([preview("a", { text: "lo" })]).previews).toBeUndefined();
    expect(play([preview("a", { key: "/content", text: "lo" })]).previews).toBeUndefined();
  });

  it("end with the run", () => {
    expect(play([...START, done])).not.toHaveProperty("previews");
  });
});

describe("an announced call", () => {
  it("gets its previewed strings back, and its previews end", () => {
    const trace = play([
      ...START,
      announced({ path: "", content: "", overwrite: true }, { "/path": 10, "/content": 8 }),
    ]);
    expect(calls(trace)[0]?.arguments).toEqual({ path: "index.html", content: "<p>Hello", overwrite: true });
    expect(trace).not.toHaveProperty("previews");
  });

  it("keeps the arguments that the event contains", () => {
    const trace = play([...START, announced({ path: "other.html", content: "" }, { "/content": 8 })]);
    expect(calls(trace)[0]?.arguments).toEqual({ path: "other.html", content: "<p>Hello" });
    expect(calls(play([...START, announced({ path: "x" })]))[0]?.arguments).toEqual({ path: "x" });
  });

  it("gets strings inside lists, and ignores pointers that do not fit", () => {
    const trace = play([
      preview("a", { name: "edit_file", key: "/edits/1/old_text", text: "old" }),
      preview("a", { key: "/odd~1name", text: "x" }),
      preview("a", { key: "/none/at/all", text: "y" }),
      announced(
        { edits: [{ old_text: "first" }, { old_text: "" }], "odd/name": "" },
        { "/edits/1/old_text": 3, "/odd~1name": 1, "/none/at/all": 1, "/never/sent": 4 },
      ),
    ]);
    expect(calls(trace)[0]?.arguments).toEqual({
      edits: [{ old_text: "first" }, { old_text: "old" }],
      "odd/name": "x",
    });
  });
});
