// Tools have readable titles.
import { describe, expect, it } from "vitest";
import { aTool } from "../../fixtures/catalogue.ts";
import { readableName, titleOf, toolTitles } from "./toolTitles.ts";

describe("A tool's name", () => {
  it.each([
    ["get_weather", "Get weather"],
    ["getWeather", "Get weather"],
    ["readURL", "Read URL"],
    ["fetch_PDF__page_2", "Fetch PDF page 2"],
    ["", ""],
  ])("%s in words is %s", (name, words) => expect(readableName(name)).toBe(words));

  it("is the listed title, or the name as words", () => {
    const titles = toolTitles([aTool("search_web", { title: "Web search" })]);
    expect(titleOf(titles, "search_web")).toBe("Web search");
    expect(titleOf(titles, "roll_dice")).toBe("Roll dice");
  });
});
