import { describe, expect, it } from "vitest";
import { cellOf, tableOf } from "./dataTable.ts";
import { booleanText, currencyText, dateText, deltaText, deltaTone, numberText, percentText } from "./formatCell.ts";

// The spaces that Intl writes differ between versions.
const plain = (text: string) => text.replaceAll(/\s/g, " ");

describe("the text of a cell", () => {
  it("of a number has its decimals, unit, sign and short form", () => {
    expect(numberText(1234.5, { kind: "number" })).toBe("1,234.5");
    expect(numberText(2, { kind: "number", decimals: 2, unit: "kg" })).toBe("2.00 kg");
    expect(numberText(3, { kind: "number", showSign: true })).toBe("+3");
    expect(numberText(1_200_000, { kind: "number", compact: true })).toBe("1.2M");
  });

  it("of an amount has its currency, with as many decimals as the currency", () => {
    expect(currencyText(12.5, { kind: "currency", currency: "USD" })).toBe("$12.50");
    expect(currencyText(1200, { kind: "currency", currency: "JPY" })).toBe("¥1,200");
    expect(plain(currencyText(3, { kind: "currency", currency: "XQX", decimals: 0 }))).toBe("XQX 3");
  });

  it("of a share follows its basis", () => {
    expect(percentText(0.25, { kind: "percent" })).toBe("25%");
    expect(percentText(25, { kind: "percent", basis: "unit", decimals: 1, showSign: true })).toBe("+25.0%");
  });

  it("of a change has a sign, and says whether the change is good", () => {
    expect(deltaText(4, { kind: "delta" })).toBe("+4");
    expect(deltaText(-4, { kind: "delta", decimals: 1 })).toBe("-4.0");
    expect([4, -4, 0].map((value) => deltaTone(value, { kind: "delta" }))).toEqual(["success", "danger", "neutral"]);
    expect(deltaTone(4, { kind: "delta", upIsPositive: false })).toBe("danger");
  });

  it("of a day is that day in every time zone", () => {
    expect(dateText("2026-03-01", { kind: "date" })).toBe("Mar 1, 2026");
    expect(dateText("2026-03-01", { kind: "date", dateFormat: "long" })).toBe("March 1, 2026");
    expect(dateText("soon", { kind: "date" })).toBe("soon");
  });

  it("of a relative date counts from now", () => {
    const now = Date.parse("2026-03-04T12:00:00Z");
    const ago = (time: string) => dateText(time, { kind: "date", dateFormat: "relative" }, now);
    expect([ago("2026-03-04T11:57:00Z"), ago("2026-03-01T12:00:00Z"), ago("2026-03-05T12:00:00Z")]).toEqual([
      "3 minutes ago",
      "3 days ago",
      "tomorrow",
    ]);
  });

  it("of a boolean is a word", () => {
    expect([booleanText(true, { kind: "boolean" }), booleanText(false, { kind: "boolean" })]).toEqual(["Yes", "No"]);
    expect(booleanText(false, { kind: "boolean", labels: { true: "In stock", false: "Sold out" } })).toBe("Sold out");
  });
});

describe("an artifact", () => {
  const table = { surfaceId: "t-1", columns: [{ key: "a", label: "A" }], data: [{ a: 1 }] };

  it("is a table only with all its parts", () => {
    expect(tableOf(table)).toBe(table);
    expect(tableOf({ ...table, newer: true })).toBeDefined();
    for (const other of [undefined, null, "table", [table], {}, { ...table, columns: [] }, { ...table, data: [1] }])
      expect(tableOf(other)).toBeUndefined();
  });

  it("has no cells that its rows only inherit", () => {
    expect(cellOf({}, "constructor")).toBeNull();
  });
});
