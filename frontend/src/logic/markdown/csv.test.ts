import { expect, it } from "vitest";
import { csvOf } from "./csv.ts";

it("quotes special characters, and prevents spreadsheet formulas", () => {
  expect(
    csvOf([
      ["a", 'b "c"'],
      ["1,5", "-2.5"],
      ["=1+1", "-x"],
    ]),
  ).toBe(`a,"b ""c"""\r\n"1,5",-2.5\r\n'=1+1,'-x`);
});
