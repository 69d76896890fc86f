import { expect, it } from "vitest";
import { parsedLength } from "./closeOpenMarks.ts";

it("parses a long unfinished block at few lengths, and never less than before", () => {
  const lengths = Array.from({ length: 60_000 / 50 }, (_, n) => parsedLength("word ".repeat(n * 10)));
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  expect(new Set(lengths.filter((length) => length > 4_500)).size).toBeLessThan(15);
  expect(parsedLength("short")).toBe(5);
});
