import { expect, it } from "vitest";
import { languageOf } from "./languageNames.ts";

it.each([
  ["py", "python"],
  ["Python title=x", "python"],
  ["sh · an example", "bash"],
  ["ts{1,3}", "typescript"],
  ["brainfuck", undefined],
  ["constructor", undefined],
  ["", undefined],
])("calls %j %j", (words, language) => {
  expect(languageOf(words)).toBe(language);
});
