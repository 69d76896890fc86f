import { beforeEach, describe, expect, it } from "vitest";
import { Drafts } from "./drafts.ts";

const PICTURE = { id: "p", name: "a.png", url: `data:image/png;base64,${"A".repeat(200)}` };

class Box {
  readonly kept = new Map<string, string>();
  room = 10_000;
  getItem = (key: string) => this.kept.get(key) ?? null;
  removeItem = (key: string) => void this.kept.delete(key);
  setItem = (key: string, value: string) => {
    const others = [...this.kept].filter(([name]) => name !== key).reduce((sum, [, text]) => sum + text.length, 0);
    if (others + value.length > this.room) throw new Error("QuotaExceededError");
    this.kept.set(key, value);
  };
}

let box: Box;
let drafts: Drafts;
beforeEach(() => {
  box = new Box();
  drafts = new Drafts(box);
});

const write = (key: string, text: string) => drafts.change(key, () => ({ text }));
const reloaded = () => new Drafts(box);

describe("a draft", () => {
  it("survives a reload, separately for each conversation", () => {
    write("a", "for a");
    write("b", "for b");
    drafts.change("b", () => ({ pictures: [PICTURE] }));
    expect(reloaded().get("a")).toEqual({ text: "for a", pictures: [] });
    expect(reloaded().get("b")).toEqual({ text: "for b", pictures: [PICTURE] });
  });

  it("is removed when it is sent", () => {
    write("a", "x");
    drafts.change("a", () => ({ pictures: [PICTURE] }));
    drafts.clear("a");
    expect(box.kept.size).toBe(0);
    expect(reloaded().get("a")).toEqual({ text: "", pictures: [] });
  });

  it("keeps the text if the images do not fit", () => {
    box.room = 100;
    write("a", "words");
    drafts.change("a", () => ({ pictures: [PICTURE] }));
    expect(drafts.get("a").pictures).toEqual([PICTURE]);
    expect(reloaded().get("a")).toEqual({ text: "words", pictures: [] });
  });

  it("drops stored images if they leave no space for the text", () => {
    box.room = 400;
    drafts.change("a", () => ({ pictures: [PICTURE] }));
    write("a", "w".repeat(200));
    expect(reloaded().get("a")).toEqual({ text: "w".repeat(200), pictures: [] });
  });

  it("does not restore old text if the new text does not fit", () => {
    write("a", "old");
    box.room = 50;
    write("a", "n".repeat(100));
    expect(drafts.get("a").text).toHaveLength(100);
    expect(reloaded().get("a").text).toBe("");
  });

  it("follows its chat when that gets an id", () => {
    write("new", "typed meanwhile");
    drafts.move("new", "c1");
    expect(drafts.get("c1").text).toBe("typed meanwhile");
    expect(drafts.get("new").text).toBe("");
    expect(reloaded().get("c1").text).toBe("typed meanwhile");
  });

  it("does not overwrite a draft if there is nothing to move", () => {
    write("c1", "mine");
    drafts.move("new", "c1");
    expect(drafts.get("c1").text).toBe("mine");
  });

  it("notifies listeners, and returns the same object until something changes", () => {
    let told = 0;
    const leave = drafts.subscribe(() => told++);
    const before = drafts.get("a");
    expect(drafts.get("a")).toBe(before);
    write("a", "x");
    expect(told).toBe(1);
    leave();
    write("a", "y");
    expect(told).toBe(1);
  });

  it.each(["{", "null", '{"a":1}', '[{"id":1}]', '[{"id":"p","name":"x","url":"https://elsewhere.example/x.png"}]'])(
    "reads nothing from %s",
    (kept) => {
      box.kept.set("signalbox.draft.a.pictures", kept);
      box.kept.set("signalbox.draft.a.text", kept);
      expect(reloaded().get("a")).toEqual({ text: "", pictures: [] });
    },
  );

  it("works without storage", () => {
    const unkept = new Drafts(undefined);
    unkept.change("a", () => ({ text: "x" }));
    expect(unkept.get("a").text).toBe("x");
  });
});
