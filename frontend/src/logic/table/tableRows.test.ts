import { describe, expect, it } from "vitest";
import type { Column } from "../../types/dataTable.ts";
import { cellText } from "./cellText.ts";
import { columnTracks } from "./columnTracks.ts";
import type { Row } from "./dataTable.ts";
import { filteredRows } from "./filterRows.ts";
import { keyOf } from "./rowKeys.ts";
import { tableCsv } from "./tableCsv.ts";

const COLUMNS: Column[] = [
  { key: "image", label: "Image", format: { kind: "image" } },
  { key: "name", label: "Product", format: { kind: "link", hrefKey: "url" } },
  { key: "price", label: "Price", format: { kind: "currency", currency: "USD" } },
  {
    key: "state",
    label: "State",
    format: { kind: "status", statusMap: { out: { tone: "danger", label: "Sold out" } } },
  },
  { key: "used", label: "Used", format: { kind: "boolean", labels: { true: "second-hand", false: "new" } } },
  { key: "tags", label: "Tags", format: { kind: "array" } },
];
const RED: Row = {
  image: "/api/images/x",
  name: "Red mug",
  url: "https://shop.example/1",
  price: 1250,
  state: "out",
  used: true,
  tags: ["gift", null, 3],
};
const BLUE: Row = { name: 'Blue "cup"', url: "https://shop.example/2", price: -1, used: false };

describe("the text of a cell", () => {
  it("is that which the page shows", () => {
    const texts = COLUMNS.map(({ key, format }) => cellText(RED[key] ?? null, format));
    expect(texts.slice(3)).toEqual(["Sold out", "second-hand", "gift, –, 3"]);
    expect(texts.slice(0, 2)).toEqual(["", "Red mug"]);
    expect(texts[2]).toContain("1,250.00");
  });
});

describe("a filter", () => {
  const found = (filter: string) => filteredRows([RED, BLUE], COLUMNS, filter);

  it("finds words in any order in the shown texts, ignoring case", () => {
    expect(found("MUG red")).toEqual([RED]);
    expect(found("sold second-hand")).toEqual([RED]);
    expect(found("1,250")).toEqual([RED]);
    expect(found("new")).toEqual([BLUE]);
    expect(found("red cup")).toEqual([]);
  });

  it("does not find what is not shown", () => {
    expect(found("shop.example")).toEqual([]);
    expect(found("images")).toEqual([]);
  });

  it("leaves all rows if it has no words", () => {
    const rows = [RED, BLUE];
    expect(filteredRows(rows, COLUMNS, "  ")).toBe(rows);
  });
});

describe("the tracks of columns", () => {
  const tracks = (columns: Column[], rows: Row[]) => columnTracks(columns, rows).tracks;
  const least = (text: string) => Number.parseFloat(text.replace("minmax(", ""));

  it("fit unbroken texts whole and wrap long ones", () => {
    const long = "a long description ".repeat(20);
    expect(least(tracks([{ key: "a", label: "A" }], [{ a: long }]))).toBeLessThan(13);
    const amount = tracks([{ key: "a", label: "A", format: { kind: "number" } }], [{ a: 123_456_789 }]);
    expect(least(amount)).toBeGreaterThan(6);
  });

  it("take the width of a column only if it is a length", () => {
    expect(tracks([{ key: "a", label: "A", width: "12rem" }], [{ a: "x" }])).toBe("12rem");
    expect(tracks([{ key: "a", label: "A", width: "1px) url(x" }], [{ a: "x" }])).not.toContain("url");
  });

  it("leave room for the heading, and for the letters of East Asian scripts", () => {
    const heading = tracks([{ key: "a", label: "A rather long heading" }], [{ a: "x" }]);
    expect(least(heading)).toBeGreaterThan(12);
    const width = (name: string) => least(tracks([{ key: "a", label: "A" }], [{ a: name }]));
    expect(width("茶碗茶碗")).toBeGreaterThan(width("cups"));
  });

  it("add up to the least width of the table", () => {
    const columns: Column[] = [
      { key: "a", label: "A", width: "40px" },
      { key: "b", label: "B", width: "2em" },
    ];
    expect(columnTracks(columns, [{}]).minimum).toBe("calc(40px + 2em)");
  });
});

describe("a table as CSV", () => {
  it("has the values of the data and the addresses of links, but no images", () => {
    expect(tableCsv(COLUMNS, [RED, BLUE]).split("\r\n")).toEqual([
      "Product,Product: address,Price,State,Used,Tags",
      'Red mug,https://shop.example/1,1250,out,true,"gift, , 3"',
      '"Blue ""cup""",https://shop.example/2,-1,,false,',
    ]);
  });
});

describe("the key of a row", () => {
  it("stays the same, and differs from that of an equal row", () => {
    expect(keyOf(RED)).toBe(keyOf(RED));
    expect(keyOf({ ...RED })).not.toBe(keyOf(RED));
  });
});
