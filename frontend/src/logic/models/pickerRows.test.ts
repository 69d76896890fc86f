import { describe, expect, it } from "vitest";
import { aModel } from "../../fixtures/catalogue.ts";
import { isIdMeant, offeredId, renderedSections, rowAfterKey, rowIds } from "./pickerRows.ts";

const some = (...ids: string[]) => ids.map((id) => aModel(id));

describe("a key", () => {
  it.each([
    ["ArrowDown", -1, 0],
    ["ArrowDown", 0, 1],
    ["ArrowDown", 19, 0],
    ["ArrowUp", -1, 19],
    ["ArrowUp", 0, 19],
    ["ArrowUp", 5, 4],
    ["PageDown", 0, 8],
    ["PageDown", 18, 19],
    ["PageUp", 9, 1],
    ["PageUp", 3, 0],
    ["Home", 7, 0],
    ["End", 7, 19],
    ["a", 7, undefined],
    ["toString", 7, undefined],
  ])("%s leads from row %d to %s", (key, active, to) => {
    expect(rowAfterKey(key, active, 20)).toBe(to);
  });

  it("leads nowhere in an empty list", () => {
    expect(rowAfterKey("ArrowDown", -1, 0)).toBeUndefined();
  });
});

describe("a typed id", () => {
  it("is meant where nothing listed begins with it", () => {
    expect(isIdMeant("own/x", [])).toBe(true);
    expect(isIdMeant("Own/X", some("own/xyz"))).toBe(false);
    expect(isIdMeant("own/x", some("other/own-x"))).toBe(true);
    expect(isIdMeant("gpt", some("openai/gpt"))).toBe(false);
  });

  it("is offered beside what was found where it looks like one", () => {
    expect(offeredId("gpt", [])).toBe("gpt");
    expect(offeredId("gpt", some("openai/gpt"))).toBeUndefined();
    expect(offeredId("own/gpt", some("openai/gpt"))).toBe("own/gpt");
    expect(offeredId(undefined, [])).toBeUndefined();
  });

  it("stands before or behind what was found", () => {
    expect(rowIds(some("a", "b"), undefined, false)).toEqual(["a", "b"]);
    expect(rowIds(some("a", "b"), "x", false)).toEqual(["a", "b", "x"]);
    expect(rowIds(some("a", "b"), "x", true)).toEqual(["x", "a", "b"]);
  });
});

describe("the drawn rows", () => {
  const sections = [
    { title: "One", models: some("a", "b") },
    { title: "Two", models: some("c", "d", "e") },
    { title: "Three", models: some("f") },
  ];
  const drawn = (limit: number, shift = 0) =>
    renderedSections(sections, limit, shift).map(({ title, from, models }) => [title, from, models.length]);

  it("are as many as asked for, and know their place", () => {
    expect(drawn(3)).toEqual([
      ["One", 0, 2],
      ["Two", 2, 1],
    ]);
    expect(drawn(2)).toEqual([["One", 0, 2]]);
    expect(drawn(60, 1)).toEqual([
      ["One", 1, 2],
      ["Two", 3, 3],
      ["Three", 6, 1],
    ]);
  });
});
