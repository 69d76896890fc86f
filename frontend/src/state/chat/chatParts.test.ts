import { describe, expect, it } from "vitest";
import { ScriptedServer } from "../../fixtures/server.ts";
import { Answer } from "../answer/answer.ts";
import { type AnswerPart, type ChatPart, columnOf, comparedIn, entriesOf, merged } from "./chatParts.ts";

const question: ChatPart = {
  ...{ kind: "question", key: "q", parent: null, id: "q", text: "?", pictures: [], files: [], system: undefined },
};

function answered(key: string, model: string, column?: number): AnswerPart {
  const answer = Answer.asked({ client: new ScriptedServer() }, { model, effort: "auto" });
  return { kind: "answer", key, parent: "q", answer, column };
}

const partsOf = (...answers: AnswerPart[]): ReadonlyMap<string, ChatPart> =>
  new Map([question, ...answers].map((part) => [part.key, part]));

function besideOf(parts: ReadonlyMap<string, ChatPart>): readonly string[] {
  const last = entriesOf(parts, [...parts.keys()].at(-1) ?? null, new Set(["q"])).at(-1);
  return last?.kind === "answer" ? last.beside.map(({ key }) => key) : [];
}

describe("answers side by side", () => {
  it("are in the order of the chosen models, not of their start", () => {
    expect(besideOf(partsOf(answered("b1", "b", 1), answered("c1", "c", 2), answered("a1", "a", 0)))).toEqual([
      ...["a1", "b1", "c1"],
    ]);
  });

  it("keep the place of a regenerated model", () => {
    const parts = partsOf(answered("a1", "a", 0), answered("b1", "b", 1), answered("a2", "a", 0));
    expect(besideOf(parts)).toEqual(["a2", "b1"]);
    expect(columnOf(parts, "q", "a")).toBe(0);
  });

  it("have a later model after the others", () => {
    const parts = partsOf(answered("x1", "x"), answered("b1", "b", 1), answered("a1", "a", 0));
    expect(besideOf(parts)).toEqual(["a1", "b1", "x1"]);
    expect(columnOf(parts, "q", "x")).toBeUndefined();
  });

  it("are a comparison if two of them have columns", () => {
    expect([...comparedIn(partsOf(answered("a1", "a", 0), answered("b1", "b", 1)))]).toEqual(["q"]);
    expect([...comparedIn(partsOf(answered("a1", "a", 0), answered("a2", "a", 0), answered("b1", "b")))]).toEqual([]);
  });
});

describe("an answer that handed calls to another client", () => {
  it("is followed by that client's results and the next answer, as one branch", () => {
    const base = { created: 0, text: "" };
    const run = { ...{ status: "complete", code: undefined, model: "m", loop: "v2", cost: 1, costEstimated: false } };
    const figures = { simulated: false, steps: 1, firstTokenMs: 1, provider: undefined, column: undefined, ms: 1 };
    const nodes: Parameters<typeof merged>[1]["nodes"] = [
      { ...base, id: "q", parentId: null, role: "user", pictures: [], files: [], system: undefined },
      { ...base, id: "a", parentId: "q", role: "assistant", run: { ...run, ...figures } },
      { ...base, id: "r", parentId: "a", role: "assistant", run: undefined },
      { ...base, id: "b", parentId: "r", role: "assistant", text: "It is late.", run: { ...run, ...figures } },
    ];
    const conversation = { id: "c", title: "", leafId: "b", nodes };
    const { parts, leaf } = merged({ parts: new Map(), leaf: null }, conversation, { client: new ScriptedServer() });
    const shown = entriesOf(parts, leaf, new Set());
    expect(shown.map(({ part }) => part.key)).toEqual(["q", "a", "b"]);
    expect(shown.every(({ alternatives }) => alternatives.length === 1)).toBe(true);
  });
});
