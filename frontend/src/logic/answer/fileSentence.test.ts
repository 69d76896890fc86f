import { describe, expect, it } from "vitest";
import type { CallItem, CallPreview, CallStatus } from "../../types/models.ts";
import { fileSentence } from "./fileSentence.ts";

const preview = (name: string, key: string, texts: Record<string, string>): CallPreview => ({
  ...{ id: "a", name, key, texts },
});
const call = (name: string, status: CallStatus, over: Partial<CallItem> = {}): CallItem => ({
  ...{ kind: "call", id: "a", name, arguments: { path: "index.html" }, category: "other", visibility: "secondary" },
  ...{ status, cached: false, links: [] },
  ...over,
});

describe("the sentence of a file", () => {
  it("has the size while the file is written, and the path once it is complete", () => {
    expect(fileSentence(preview("create_file", "/path", { "/path": "ind" }))).toEqual({
      ...{ title: "Creating a file", size: "" },
    });
    const texts = { "/path": "index.html", "/content": "x".repeat(4096) };
    expect(fileSentence(preview("create_file", "/content", texts))).toEqual({
      ...{ title: "Creating index.html", size: "4.1 kB" },
    });
    expect(fileSentence(preview("create_file", "/content", { ...texts, "/content": "x" })).size).toBe("1 byte");
  });

  it("counts the changes of an edit", () => {
    const one = { "/path": "a.css", "/edits/0/old_text": "a", "/edits/0/new_text": "b" };
    expect(fileSentence(preview("edit_file", "/edits/0/new_text", one))).toEqual({ title: "Editing a.css", size: "" });
    const two = { ...one, "/edits/1/new_text": "c" };
    expect(fileSentence(preview("edit_file", "/edits/1/new_text", two)).size).toBe("2 changes");
  });

  it("says what became of the call", () => {
    const artifact = { type: "file", lines: 120, added: 12, removed: 3, is_new: true };
    expect(fileSentence(call("create_file", "running"))).toEqual({ title: "Creating index.html", size: "" });
    expect(fileSentence(call("create_file", "done", { artifact }))).toEqual({
      ...{ title: "Created index.html", size: "120 lines" },
    });
    expect(fileSentence(call("create_file", "done", { artifact: { ...artifact, is_new: false } })).title).toBe(
      "Replaced index.html",
    );
    expect(fileSentence(call("edit_file", "done", { artifact })).size).toBe("+12 −3");
    expect(fileSentence(call("edit_file", "done")).size).toBe("");
    expect(fileSentence(call("edit_file", "failed", { error: "old_text matches 2 times." }))).toEqual({
      ...{ title: "Edit index.html: failed", size: "", reason: "old_text matches 2 times." },
    });
    expect(fileSentence(call("edit_file", "cancelled", { arguments: {} })).title).toBe("Edit a file: stopped");
  });
});
