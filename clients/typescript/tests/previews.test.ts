import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answerOf } from "../src/answers.ts";
import { Previews } from "../src/previews.ts";
import { parseEvent } from "../src/requests/parseEvent.ts";
import type { Done } from "../src/types/events.ts";
import type { Call, ChatEvent } from "../src/types/receivedEvents.ts";

const EDIT: readonly ChatEvent[] = [
  { type: "preview", id: "a", name: "edit_file", key: "/path", text: "a.js", step: 1 },
  { type: "preview", id: "b", name: "create_file", key: "/content", text: "<p>" },
  { type: "preview", id: "a", key: "/edits/0/new_text", text: "const " },
  { type: "preview", id: "b", text: "Hi" },
  { type: "preview", id: "a", text: "a" },
];

const previewsOf = (events: readonly ChatEvent[]): Previews => {
  const previews = new Previews();
  for (const event of events) previews.add(event);
  return previews;
};
const call = (args: object, previewed?: Record<string, number>): Call => ({
  id: "a",
  name: "edit_file",
  arguments: JSON.stringify(args),
  ...(previewed && { previewed }),
});
const wholeOf = (events: readonly ChatEvent[], announced: Call): unknown =>
  JSON.parse(previewsOf(events).whole(announced).arguments);

describe("previews", () => {
  it("join by call and key", () => {
    expect(previewsOf(EDIT).textsOf("a")).toEqual({ "/path": "a.js", "/edits/0/new_text": "const a" });
    expect(previewsOf(EDIT).textsOf("b")).toEqual({ "/content": "<p>Hi" });
    expect(previewsOf(EDIT).textsOf("c")).toEqual({});
  });

  it("complete the arguments of the announced call", () => {
    const announced = call({ path: "", edits: [{ new_text: "" }], n: 1 }, { "/path": 4, "/edits/0/new_text": 7 });
    expect(wholeOf(EDIT, announced)).toEqual({ path: "a.js", edits: [{ new_text: "const a" }], n: 1 });
  });

  it("change only the strings that the call names", () => {
    expect(wholeOf(EDIT, call({ path: "b.js", edits: [{ new_text: "x" }] }))).toEqual({
      path: "b.js",
      edits: [{ new_text: "x" }],
    });
    expect(wholeOf(EDIT, call({ path: "" }, { "/path": 4, "/edits/0/new_text": 7, "/none": 1 }))).toEqual({
      path: "a.js",
    });
    expect(wholeOf(EDIT, call({ path: "b.js" }, {}))).toEqual({ path: "b.js" });
  });

  it("are forgotten when they are withdrawn, and ignored without their beginning", () => {
    expect(previewsOf([...EDIT, { type: "preview", id: "a", withdrawn: true }]).textsOf("a")).toEqual({});
    expect(previewsOf([{ type: "preview", id: "a", text: "x" }]).textsOf("a")).toEqual({});
  });

  it("of a stream of the server give the whole arguments in its answer", () => {
    const path = new URL("../../../tests/scenarios/contract/fixtures/previews.sse", import.meta.url);
    const frames = readFileSync(path, "utf8").split("\n\n").filter(Boolean);
    const events = frames.flatMap((frame, index) => {
      const event = parseEvent(frame.slice("data: ".length).split("\n")[0] ?? "");
      return event ? [{ ...event, seq: index + 1 }] : [];
    });
    const ids = { runId: "r", conversationId: undefined, messageId: undefined };
    const [written] = answerOf(events, events.at(-1) as unknown as Done, ids).calls;
    expect(JSON.parse(written?.arguments ?? "")).toEqual({ path: "index.html", content: "<h1>Hello 😀</h1>\n" });
  });
});
