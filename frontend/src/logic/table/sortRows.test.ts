import { describe, expect, it } from "vitest";
import type { Column } from "../../types/dataTable.ts";
import type { Cell } from "./dataTable.ts";
import { nextSorting, sortedRows } from "./sortRows.ts";

const sorted = (
  cells: readonly Cell[],
  format?: Column["format"],
  direction: "ascending" | "descending" = "ascending",
) =>
  sortedRows(
    cells.map((cell) => ({ cell })),
    [{ key: "cell", label: "Cell", ...(format && { format }) }],
    { key: "cell", direction },
  ).map((row) => row.cell);

describe("sorted rows", () => {
  it("are in the order of the numbers, not of their text", () => {
    expect(sorted([10, 9, -1, 100.5], { kind: "currency", currency: "USD" })).toEqual([-1, 9, 10, 100.5]);
    expect(sorted([10, 9, -1], { kind: "number" }, "descending")).toEqual([10, 9, -1]);
  });

  it("are in the order of the dates, even if they are written differently", () => {
    const dates = ["2026-02-01T00:30:00+02:00", "2026-01-31", "2026-01-31T23:00:00Z"];
    expect(sorted(dates, { kind: "date" })).toEqual([dates[1], dates[0], dates[2]]);
  });

  it("have false before true, and texts without regard to case, with numbers in them as numbers", () => {
    expect(sorted([true, false, true], { kind: "boolean" })).toEqual([false, true, true]);
    expect(sorted(["b", "A", "c"])).toEqual(["A", "b", "c"]);
    expect(sorted(["item 10", "item 9"])).toEqual(["item 9", "item 10"]);
    expect(sorted(["x", 2, "a", 1])).toEqual([1, 2, "a", "x"]);
  });

  it("have empty cells last in both directions", () => {
    for (const direction of ["ascending", "descending"] as const)
      expect(sorted([null, 2, null, 1], { kind: "number" }, direction).slice(2)).toEqual([null, null]);
    expect(sorted(["no date", "2026-01-01"], { kind: "date" })).toEqual(["2026-01-01", "no date"]);
  });

  it("keep the order of equal cells, and do not change the data", () => {
    const rows = [
      { a: 1, b: "first" },
      { a: 1, b: "second" },
      { a: 0, b: "third" },
    ];
    const columns = [{ key: "a", label: "A" }];
    const order = (direction: "ascending" | "descending") =>
      sortedRows(rows, columns, { key: "a", direction }).map(({ b }) => b);
    expect(order("ascending")).toEqual(["third", "first", "second"]);
    expect(order("descending")).toEqual(["first", "second", "third"]);
    expect(rows.map(({ b }) => b)).toEqual(["first", "second", "third"]);
    expect(sortedRows(rows, columns, undefined)).toBe(rows);
  });
});

it("presses of a heading go up, down and back to the order of the data", () => {
  const up = nextSorting(undefined, "a");
  const down = nextSorting(up, "a");
  expect([up?.direction, down?.direction, nextSorting(down, "a")]).toEqual(["ascending", "descending", undefined]);
  expect(nextSorting(down, "b")).toEqual({ key: "b", direction: "ascending" });
});
