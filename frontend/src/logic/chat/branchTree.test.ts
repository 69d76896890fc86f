import { describe, expect, it } from "vitest";
import { alternativesAlong, alternativesOf, newestLeaf, type Part, pathTo } from "./branchTree.ts";

const tree = (...rows: [key: string, parent: string | null, kind: Part["kind"]][]): Map<string, Part> =>
  new Map(rows.map(([key, parent, kind]) => [key, { key, parent, kind }]));

// q1 → a1, a2 (again) ; a2 → q2 → a3 ; q1' (edited) → a4
const parts = tree(
  ["q1", null, "question"],
  ["a1", "q1", "answer"],
  ["a2", "q1", "answer"],
  ["q2", "a2", "question"],
  ["a3", "q2", "answer"],
  ["q1'", null, "question"],
  ["a4", "q1'", "answer"],
);
const keys = (found: readonly Part[]) => found.map(({ key }) => key);

describe("a conversation's tree", () => {
  it("has a path from the root to a leaf", () => {
    expect(keys(pathTo(parts, "a3"))).toEqual(["q1", "a2", "q2", "a3"]);
    expect(pathTo(parts, null)).toEqual([]);
    expect(pathTo(parts, "missing")).toEqual([]);
  });

  it("returns the known part of a path without a root, and cuts cycles", () => {
    expect(keys(pathTo(tree(["a", "gone", "answer"]), "a"))).toEqual(["a"]);
    expect(keys(pathTo(tree(["a", "b", "answer"], ["b", "a", "question"]), "a"))).toEqual(["b", "a"]);
    expect(newestLeaf(tree(["a", "b", "answer"], ["b", "a", "question"]), "a")).toBe("b");
  });

  it("has the versions of a part, also at the root", () => {
    const [q1, a2] = [parts.get("q1"), parts.get("a2")];
    expect(q1 && keys(alternativesOf(parts, q1))).toEqual(["q1", "q1'"]);
    expect(a2 && keys(alternativesOf(parts, a2))).toEqual(["a1", "a2"]);
    expect(alternativesAlong(parts, pathTo(parts, "a3")).map(keys)).toEqual([
      ["q1", "q1'"],
      ["a1", "a2"],
      ["q2"],
      ["a3"],
    ]);
  });

  it("continues with the newest part", () => {
    expect(newestLeaf(parts, "q1")).toBe("a3");
    expect(newestLeaf(parts, "a1")).toBe("a1");
    expect(newestLeaf(parts, "q1'")).toBe("a4");
  });
});
