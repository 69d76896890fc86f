import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { addedText } from "./overlap.ts";

interface Case {
  name: string;
  before: string;
  more: string;
  adds: string;
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(new URL("../../../../tests/unit/conversations/overlaps.json", import.meta.url), "utf-8"),
);

describe("what a continuation adds", () => {
  it.each(CASES)("is the same as on the server: $name", ({ before, more, adds }) => {
    expect(addedText(before, more, true)).toBe(adds);
  });

  it.each(CASES)("only grows while streaming: $name", ({ before, more, adds }) => {
    let shown = "";
    for (let size = 1; size <= more.length; size++) {
      const now = addedText(before, more.slice(0, size), false);
      expect(now.startsWith(shown)).toBe(true);
      shown = now;
    }
    expect(adds.startsWith(shown)).toBe(true);
  });

  it("waits no longer than the maximum repetition", () => {
    const before = "word ".repeat(500);
    expect(addedText(before, before, false)).not.toBe("");
  });
});
