import { describe, expect, it } from "vitest";
import { fixture } from "../../fixtures/read.ts";
import type { ChatEvent, RunTrace } from "../../types/models.ts";
import { emptyTrace, runReducer } from "../trace/reducer.ts";
import { copiedText, plainText } from "./copiedText.ts";

const play = (events: readonly ChatEvent[]): RunTrace => events.reduce(runReducer, emptyTrace("m"));

describe("copied text", () => {
  const trace = play(fixture("tools"));

  it("is the model's answer, without anything of the page", () => {
    expect(copiedText(trace, "answer")).toBe(
      "Ich lese nach.\n\nA journal is the **ordered** list of events [1]. 日本語 text, and a café [2].",
    );
  });

  it("has the cited sources by number, with absolute addresses", () => {
    expect(copiedText(trace, "sources", "https://box.example").split("## Sources\n\n")[1]).toBe(
      "- [1] [The journal](<https://box.example/guide/architecture.md#journal>)\n- [2] [Café](<https://example.org/a?id=1>)",
    );
  });

  it("has all sources if none is cited, and no heading if there are none", () => {
    const search = fixture("tools").filter((event) => event.type.startsWith("tool"));
    expect(
      copiedText(play([...search, { type: "content", content: "Found." }]), "sources").match(/^- /gm),
    ).toHaveLength(3);
    expect(copiedText(play(fixture("plain")), "sources")).not.toContain("Sources");
  });

  it("has the reasoning in order, and no heading if there is none", () => {
    expect(copiedText(trace, "reasoning")).toMatch(
      /^## Reasoning\n\nZuerst .*antworte ich\.\n\nTwo of them .*Enough\.\n\n## Answer\n\nIch lese nach\./s,
    );
    expect(copiedText(play(fixture("hidden-reasoning")), "reasoning")).toBe("Forty-two.");
  });

  it.each([
    ["# Title\n\n**bold**, *slanted*, ~~gone~~ and `code`", "Title\n\nbold, slanted, gone and code"],
    ["> quoted\n> twice", "quoted\ntwice"],
    [
      "see [here](https://e.example/a) and ![a dog](https://e.example/d.png)",
      "see here (https://e.example/a) and a dog (https://e.example/d.png)",
    ],
    ["```py\na ** b ** c  # no\n```\nend", "a ** b ** c  # no\nend"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["- one [1]\n- two", "- one [1]\n- two"],
  ])("is plain text on request: %j", (markdown, plain) => {
    expect(plainText(markdown)).toBe(plain);
  });
});
