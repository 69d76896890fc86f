import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../types/models.ts";
import { copiedText, hasAnswer } from "../answer/copiedText.ts";
import { answerText, sourcesOf, stopsOf } from "../answer/stops.ts";
import { emptyTrace, runReducer } from "../trace/reducer.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const play = (events: readonly ChatEvent[]) => events.reduce(runReducer, emptyTrace("openai/sim"));
const text = (content: string): ChatEvent => ({ type: "content", content });
const image = (url: string): ChatEvent => ({ type: "content", content: "", images: [{ url }] });
const cited = (n: number, url: string): ChatEvent => ({
  type: "content",
  content: "",
  sources: [{ n, url, title: `Page ${n}`, snippet: "Quoted." }],
});

describe("images of an answer", () => {
  it("stay between the texts", () => {
    const trace = play([text("One, "), text("two."), image(PNG), text("Three.")]);
    const shown = trace.items.map((item) => (item.kind === "content" ? (item.images ?? item.text) : ""));
    expect(shown).toEqual(["One, two.", [PNG], "Three."]);
    expect(answerText(trace)).toBe("One, two.Three.");
  });

  it("are one stop if they follow each other, also without text", () => {
    const trace = play([image(PNG), image(`${PNG}2`)]);
    expect(stopsOf(trace).map((stop) => stop.kind)).toEqual(["answer"]);
  });
});

describe("pages that an answer cites", () => {
  it("belong to the text before them, with the run's numbers", () => {
    const trace = play([
      text("Twice a day [2]."),
      cited(2, "https://example.org/tide"),
      cited(3, "javascript:alert(1)"),
    ]);
    const [item] = trace.items;
    if (item?.kind !== "content") throw new Error("no answer");
    expect(item.links?.map((link) => [link.n, link.title, link.host])).toEqual([[2, "Page 2", "example.org"]]);
    expect(sourcesOf(trace, item.id).get(2)?.url).toBe("https://example.org/tide");
  });

  it("do not split the text", () => {
    const trace = play([text("One "), cited(1, "https://example.org/"), text("two.")]);
    expect(trace.items).toHaveLength(1);
    expect(answerText(trace)).toBe("One two.");
  });
});

describe("a copy of an answer", () => {
  const web = "https://images.example.org/sea.png";

  it("has the images in place, like the Markdown export", () => {
    const trace = play([text("One.\n\n"), image(PNG), image(web), text("\n\nTwo.")]);
    expect(copiedText(trace, "answer")).toBe(`One.\n\n![Image](<${PNG}>)\n\n![Image](<${web}>)\n\nTwo.`);
    expect(copiedText(trace, "plain")).toBe(`One.\n\n(Image not included.)\n\nImage (${web})\n\nTwo.`);
  });

  it("has a note in place of a very large image", () => {
    const trace = play([text("One."), image(`${PNG}${"A".repeat(200_000)}`)]);
    expect(copiedText(trace, "answer")).toBe("One.\n\n*(Image not included.)*");
  });

  it("has the pages that the provider cites", () => {
    const trace = play([text("Twice a day."), cited(1, "https://example.org/tide")]);
    expect(copiedText(trace, "answer")).toBe(
      "Twice a day.\n\n## Sources\n\n- [1] [Page 1](<https://example.org/tide>)",
    );
  });

  it("exists for a single image, and not for an empty answer", () => {
    expect([[image(PNG)], [text("A")], [text(" ")], []].map((events) => hasAnswer(play(events)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
