import { describe, expect, it } from "vitest";
import { FIRST_SETTINGS, SETTINGS_KEY, Settings } from "./settings.ts";

/** Browser storage in memory. */
class Box {
  readonly kept = new Map<string, string>();
  readonly getItem = (key: string) => this.kept.get(key) ?? null;
  readonly setItem = (key: string, value: string) => void this.kept.set(key, value);
  readonly removeItem = (key: string) => void this.kept.delete(key);
}

const keeping = (saved: unknown): Box => {
  const box = new Box();
  box.setItem(SETTINGS_KEY, JSON.stringify(saved));
  return box;
};

const storage = (key: string | null): Event => Object.assign(new Event("storage"), { key });

describe("the settings", () => {
  it("start with nothing set", () => {
    expect(new Settings(new Box()).state).toEqual(FIRST_SETTINGS);
  });

  it("are kept over visits", () => {
    const box = new Box();
    const settings = new Settings(box);
    settings.changeAsk({ model: "a/b", parameters: { temperature: 0.2 } });
    settings.changeAsk({ effort: "high", toolsOff: ["calculator"], system: "Be brief." });
    settings.changeAsk({ toolChoice: "tool:roll_dice", format: { kind: "schema", schema: "{" } });
    settings.change({ theme: "dark", reasoning: "closed", sidebar: false, compared: ["a/b", "c/d"], variants: 3 });
    settings.star("a/b");
    settings.used("c/d");
    expect(new Settings(box).state).toEqual({
      ask: {
        model: "a/b",
        effort: "high",
        parameters: { temperature: 0.2 },
        toolsOff: ["calculator"],
        files: true,
        toolChoice: "tool:roll_dice",
        format: { kind: "schema", schema: "{" },
        system: "Be brief.",
      },
      recent: ["c/d"],
      starred: ["a/b"],
      theme: "dark",
      reasoning: "closed",
      sidebar: false,
      filesPanel: true,
      compared: ["a/b", "c/d"],
      variants: 3,
    });
  });

  it("are shown at once", () => {
    const settings = new Settings(new Box(), () => undefined);
    settings.change({ theme: "dark" });
    expect(settings.snapshot().theme).toBe("dark");
  });

  it("fall back field by field", () => {
    const box = keeping({
      version: 1,
      ask: { model: 5, effort: "very", parameters: { temperature: 1, top_p: "1", made_up: 1 }, toolsOff: "all" },
      recent: ["a/b", "", 5, "a/b"],
      starred: null,
      theme: "pink",
      reasoning: "open",
      sidebar: "no",
      compared: ["1", "2", "3", "4", "5"],
    });
    expect(new Settings(box).state).toEqual({
      ...FIRST_SETTINGS,
      ask: { ...FIRST_SETTINGS.ask, parameters: { temperature: 1 } },
      recent: ["a/b"],
      reasoning: "open",
      compared: ["1", "2", "3", "4"],
    });
  });

  it.each([["{"], ["null"], ["5"], ['{"version":2,"theme":"dark"}']])("are the defaults if %s was stored", (text) => {
    const box = new Box();
    box.setItem(SETTINGS_KEY, text);
    expect(new Settings(box).state).toEqual(FIRST_SETTINGS);
  });

  it("last as long as the page without storage", () => {
    const refusing = () => {
      throw new DOMException("denied", "SecurityError");
    };
    for (const box of [undefined, { getItem: refusing, setItem: refusing, removeItem: refusing }]) {
      const settings = new Settings(box);
      settings.star("a/b");
      expect(settings.state.starred).toEqual(["a/b"]);
    }
  });

  it("are migrated from an older version once", () => {
    const box = new Box();
    box.setItem("signalbox.model", "a/b");
    box.setItem("signalbox.effort", "high");
    expect(new Settings(box).state.ask).toEqual({ ...FIRST_SETTINGS.ask, model: "a/b", effort: "high" });
    expect([...box.kept.keys()]).toEqual([SETTINGS_KEY]);
    box.setItem("signalbox.model", "x/y");
    expect(new Settings(box).state.ask.model).toBe("a/b");
  });
});

describe("favourites", () => {
  it("are starred, and starred again lose their star", () => {
    const settings = new Settings(new Box());
    settings.star("a");
    settings.star("b");
    settings.star("a");
    expect(settings.state.starred).toEqual(["b"]);
  });

  it("the last eight models are recent, the newest first", () => {
    const settings = new Settings(new Box());
    for (const id of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "3", ""]) settings.used(id);
    expect(settings.state.recent).toEqual(["3", "9", "8", "7", "6", "5", "4", "2"]);
  });
});

describe("two tabs", () => {
  it("share favourites and appearance, but not request settings", () => {
    const box = new Box();
    const [one, two] = [new Settings(box), new Settings(box)];
    const events = new EventTarget();
    const stop = two.follow(events);
    two.changeAsk({ model: "two" });
    one.changeAsk({ model: "one" });
    one.star("a/b");
    one.used("c/d");
    one.change({ theme: "dark" });
    events.dispatchEvent(storage("another.key"));
    expect(two.state.starred).toEqual([]);
    events.dispatchEvent(storage(SETTINGS_KEY));
    expect(two.snapshot()).toMatchObject({ starred: ["a/b"], recent: ["c/d"], theme: "dark", ask: { model: "two" } });
    stop();
    one.star("a/b");
    events.dispatchEvent(storage(SETTINGS_KEY));
    expect(two.state.starred).toEqual(["a/b"]);
  });

  it("do not overwrite each other's changes", () => {
    const box = new Box();
    const [one, two] = [new Settings(box), new Settings(box)];
    one.star("a/b");
    two.change({ theme: "dark" });
    expect(new Settings(box).state).toMatchObject({ starred: ["a/b"], theme: "dark" });
  });

  it("are cleared together", () => {
    const box = new Box();
    const settings = new Settings(box);
    const events = new EventTarget();
    settings.follow(events);
    settings.star("a/b");
    box.kept.clear();
    events.dispatchEvent(storage(null));
    expect(settings.state.starred).toEqual([]);
  });
});
