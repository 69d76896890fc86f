import { describe, expect, it } from "vitest";
import { fillVariables, missingVariables, variablesIn } from "./variables.ts";

const NOW = new Date(2026, 2, 5, 9, 7);

describe("filling in", () => {
  it("uses the clock for date and time, and leaves other variables", () => {
    expect(fillVariables("On {{date}} at {{ time }}: {{name}} {{ }} {date}", NOW)).toBe(
      "On 2026-03-05 at 09:07: {{name}} {{ }} {date}",
    );
  });

  it("supports the names of other chat apps", () => {
    expect(fillVariables("{{CURRENT_DATE}} {{current_datetime}} {{Weekday}}", NOW)).toBe(
      "2026-03-05 2026-03-05 09:07 Thursday",
    );
  });

  it("uses given values everywhere, but only for names without a known value", () => {
    const values = { name: "Ada {{date}} $&", date: "never" };
    expect(fillVariables("{{name}}, {{ name }}, {{date}}, {{other}}", NOW, values)).toBe(
      "Ada {{date}} $&, Ada {{date}} $&, 2026-03-05, {{other}}",
    );
    expect(fillVariables("{{name}} {{constructor}}", NOW, { name: "" })).toBe("{{name}} {{constructor}}");
  });

  it.each([
    "```\n{{date}}\n```",
    "a\n~~~jinja\n{{ date }}\n~~~\nb",
    "````\n```\n{{date}}\n````",
    "```\nnever closed {{date}}",
    "a `{{date}}` b",
    "a ``x ` {{date}}`` b",
  ])("leaves code alone: %j", (text) => {
    expect(fillVariables(text, NOW)).toBe(text);
    expect(variablesIn(text, NOW)).toEqual([]);
  });

  it("continues after code, and ignores a single backtick", () => {
    expect(fillVariables("```\n{{date}}\n```\n{{date}}", NOW)).toBe("```\n{{date}}\n```\n2026-03-05");
    expect(fillVariables("a ` b {{date}}\nc ` d", NOW)).toBe("a ` b 2026-03-05\nc ` d");
  });
});

describe("variables of a text", () => {
  it("are listed once each, with value and position", () => {
    const text = "{{date}} {{company name}} {{ company name }} {{größe}}";
    expect(variablesIn(text, NOW).map(({ name, value, start, end }) => [name, value, text.slice(start, end)])).toEqual([
      ["date", "2026-03-05", "{{date}}"],
      ["company name", undefined, "{{company name}}"],
      ["größe", undefined, "{{größe}}"],
    ]);
    expect(missingVariables(text).map(({ name }) => name)).toEqual(["company name", "größe"]);
    expect(missingVariables("no {variables}")).toEqual([]);
  });

  it("are found quickly in a long text", () => {
    const text = `${"`".repeat(50_000)} ${"{{".repeat(50_000)} {{date}}`;
    const started = performance.now();
    variablesIn(text, NOW);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
