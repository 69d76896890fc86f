import { expect, it } from "vitest";
import { findMatch } from "./searchMatches.ts";

it.each([
  ["When in Tokyo?", " TOKYO ", ["When in ", "Tokyo", "?"]],
  ["Zürich", "zÜ", ["", "Zü", "rich"]],
  ["to to", "to", ["", "to", " to"]],
  ["nothing", "x", ["nothing", "", ""]],
  ["nothing", " ", ["nothing", "", ""]],
  ["İstanbul", "stan", ["İstanbul", "", ""]],
])("%s has %s", (text, wanted, [before, found, after]) => {
  expect(findMatch(text, wanted)).toEqual({ before, found, after });
});
