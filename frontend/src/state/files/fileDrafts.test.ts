// @vitest-environment jsdom
import { expect, it } from "vitest";
import { FileDrafts, fileDrafts, warnBeforeLeaving } from "./fileDrafts.ts";

const base = { text: "old", version: 1, nodeId: "n" };

it("a draft is kept by conversation and path until it is saved or dropped", () => {
  const drafts = new FileDrafts();
  drafts.begin("c", "a.txt", base);
  expect(drafts.isUnsaved("c", "a.txt")).toBe(false);
  drafts.change("c", "a.txt", "new");
  expect(drafts.of("c", "a.txt")).toEqual({ base, text: "new" });
  expect([drafts.isUnsaved("c", "a.txt"), drafts.isUnsaved("c", "b.txt"), drafts.isUnsaved("d", "a.txt")]).toEqual([
    ...[true, false, false],
  ]);
  drafts.saved("c", "a.txt", { text: "new", version: 2, nodeId: "n" });
  expect(drafts.of("c", "a.txt")).toBeUndefined();
});

it("text that was typed while the draft was being saved is an edit of the saved version", () => {
  const drafts = new FileDrafts();
  drafts.begin("c", "a.txt", base);
  drafts.change("c", "a.txt", "newer");
  drafts.saved("c", "a.txt", { text: "new", version: 2, nodeId: "m" });
  expect(drafts.of("c", "a.txt")).toEqual({ base: { text: "new", version: 2, nodeId: "m" }, text: "newer" });
});

it("the browser asks before unsaved edits are lost, but not for a deleted conversation", () => {
  const deleted = new Set<string>();
  const isAsking = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  warnBeforeLeaving((id) => deleted.has(id));
  fileDrafts.begin("c", "a.txt", base);
  expect(isAsking()).toBe(false);
  fileDrafts.change("c", "a.txt", "new");
  expect(isAsking()).toBe(true);
  deleted.add("c");
  expect(isAsking()).toBe(false);
});
