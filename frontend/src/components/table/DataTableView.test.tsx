// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Row } from "../../logic/table/dataTable.ts";
import type { Column, DataTable } from "../../types/dataTable.ts";
import { DataTableView } from "./DataTableView.tsx";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Give every element a width; the returned function changes it and notifies observers. */
function observedWidth(start: number): (width: number) => void {
  let width = start;
  let notify = () => {};
  vi.spyOn(Element.prototype, "clientWidth", "get").mockImplementation(() => width);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(onResize: () => void) {
        notify = onResize;
      }
      observe() {}
      disconnect() {}
    },
  );
  return (next) => {
    width = next;
    notify();
  };
}

const PRICE: Column = { key: "price", label: "Price", format: { kind: "currency", currency: "USD" } };
const NAME: Column = { key: "name", label: "Product", priority: "primary", format: { kind: "link", hrefKey: "url" } };

const show = (columns: Column[], data: Row[], over: Partial<DataTable> = {}) =>
  render(<DataTableView table={{ surfaceId: "t-1", caption: "Mugs", columns, data, ...over }} />);
const grid = () => within(screen.getByRole("table", { name: "Mugs" }));
const column = (index: number) =>
  grid()
    .getAllByRole("row")
    .slice(1)
    .map((row) => within(row).getAllByRole("cell")[index]?.textContent);
const heading = (name: string) => grid().getByRole("columnheader", { name });
const cards = () => within(screen.getByRole("list")).getAllByRole("listitem");
const press = (name: string) => fireEvent.click(grid().getByRole("button", { name }));

describe("a table", () => {
  it("sorts by a heading up, down and not at all, with aria-sort and an announcement", () => {
    show([PRICE], [{ price: 10 }, { price: 9 }, {}, { price: 100 }]);
    const status = screen.getByRole("status");
    expect([heading("Price").getAttribute("aria-sort"), status.textContent]).toEqual(["none", ""]);
    press("Price");
    expect([heading("Price").getAttribute("aria-sort"), status.textContent]).toEqual([
      "ascending",
      "Sorted by Price, ascending.",
    ]);
    expect(column(0)).toEqual(["$9.00", "$10.00", "$100.00", ""]);
    press("Price");
    expect(heading("Price").getAttribute("aria-sort")).toBe("descending");
    expect(column(0)).toEqual(["$100.00", "$10.00", "$9.00", ""]);
    press("Price");
    expect([heading("Price").getAttribute("aria-sort"), status.textContent]).toEqual(["none", "Original order."]);
    expect(column(0)).toEqual(["$10.00", "$9.00", "", "$100.00"]);
  });

  it("has no button above a column that must not be sorted", () => {
    show([{ key: "a", label: "A", sortable: false }], [{ a: "x" }]);
    expect(grid().queryByRole("button")).toBeNull();
    expect(heading("A").hasAttribute("aria-sort")).toBe(false);
  });

  it("links only web addresses and documents of this server, without an opener", () => {
    const urls = ["https://shop.example/a", "javascript:alert(1)", "data:text/html,x", "/guide/x.md", "/api/runs"];
    show(
      [NAME],
      urls.map((url) => ({ name: `to ${url}`, url })),
    );
    const links = grid().getAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://shop.example/a", "/guide/x.md"]);
    for (const link of links) expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(column(0)).toHaveLength(5);
  });

  it("shows images of this server only, and a link instead of a remote one", () => {
    const format = { kind: "image", altKey: "name" } as const;
    show(
      [{ key: "image", label: "Image", format }],
      [
        { image: "/api/images/abc.def-_", name: "Red mug" },
        { image: "https://shop.example/a.png", name: "Blue mug" },
        { image: "/api/images/../runs", name: "Green mug" },
      ],
    );
    const images = grid().getAllByRole("img");
    expect(images.map((image) => [image.getAttribute("src"), image.getAttribute("alt")])).toEqual([
      ["/api/images/abc.def-_", "Red mug"],
    ]);
    expect(column(0)).toEqual(["", "Open image", "No image"]);
    fireEvent.error(images[0] as HTMLElement);
    expect(column(0)[0]).toBe("No image");
  });

  it("says the state of badges, statuses, booleans and changes in words and shapes", () => {
    const columns: Column[] = [
      {
        key: "status",
        label: "Status",
        format: { kind: "status", statusMap: { ok: { tone: "success", label: "Fine" } } },
      },
      { key: "badge", label: "Badge", format: { kind: "badge", colorMap: { hot: "danger" } } },
      { key: "flag", label: "Flag", format: { kind: "boolean" } },
      { key: "change", label: "Change", format: { kind: "delta" } },
      { key: "tags", label: "Tags", format: { kind: "array", maxVisible: 1 } },
    ];
    show(columns, [{ status: "ok", badge: "hot", flag: false, change: -2, tags: ["a", "b", "c"] }]);
    const cells = grid().getAllByRole("cell");
    expect(cells.map((cell) => cell.textContent)).toEqual(["Fine", "hot", "No", "-2", "a+2"]);
    const signOf = (cell: Element) =>
      [...(cell.querySelector(".sign")?.classList ?? [])].find((name) => name.startsWith("sign-"));
    expect(cells.slice(0, 4).map(signOf)).toEqual(["sign-success", "sign-danger", "sign-no", "sign-danger"]);
    fireEvent.click(grid().getByRole("button", { name: "Show 2 more" }));
    expect(cells[4]?.textContent).toBe("abc");
  });

  it("has nothing in an empty cell, so that the style sheet shows a dash", () => {
    show(
      [PRICE, { key: "tags", label: "Tags", format: { kind: "array" } }],
      [{ price: null, tags: [] }, { tags: ["a"] }],
    );
    expect(
      grid()
        .getAllByRole("cell")
        .map((cell) => cell.childNodes.length),
    ).toEqual([0, 0, 0, 1]);
  });

  it("shows why a search failed, and that it found nothing", () => {
    show([PRICE], [], { error: "The shop did not answer." });
    expect(screen.getByText("The shop did not answer.")).toBeDefined();
    expect(screen.queryByText("Nothing found.")).toBeNull();
    cleanup();
    show([PRICE], []);
    expect(screen.getByText("Nothing found.")).toBeDefined();
  });

  it("becomes cards when its place becomes narrow, in the chosen order", () => {
    const resize = observedWidth(900);
    show([PRICE], [{ price: 10 }, { price: 9 }]);
    expect(screen.queryByRole("list")).toBeNull();
    press("Price");
    act(() => resize(400));
    expect(screen.queryByRole("table")).toBeNull();
    expect(cards().map((card) => card.querySelector("dd")?.textContent)).toEqual(["$9.00", "$10.00"]);
    act(() => resize(0));
    expect(screen.queryByRole("table")).toBeNull();
    act(() => resize(900));
    expect(column(0)).toEqual(["$9.00", "$10.00"]);
  });
});

describe("cards", () => {
  beforeEach(() => void observedWidth(400));

  const columns: Column[] = [
    { key: "seller", label: "Seller", priority: "tertiary" },
    { key: "note", label: "Note", priority: "secondary" },
    NAME,
    { key: "code", label: "Code", hideOnMobile: true },
  ];
  const terms = (card: Element | null | undefined) =>
    [...(card?.querySelectorAll("dt") ?? [])].map((term) => term.textContent);

  it("show primary columns first, then secondary and tertiary ones behind More", () => {
    show(columns, [{ name: "Red mug", url: "https://e.example/1", seller: "Ann", note: "new", code: "x" }]);
    const [card] = cards();
    expect(terms(card)).toEqual(["Product", "Note", "Seller"]);
    expect(terms(card?.querySelector("details"))).toEqual(["Note", "Seller"]);
    expect(card?.querySelector("summary")?.textContent).toBe("More");
  });

  it("are sorted with a field, because they have no headings", () => {
    show([PRICE], [{ price: 10 }, { price: 9 }]);
    fireEvent.change(screen.getByLabelText("Sort by"), { target: { value: "0" } });
    expect(cards().map((card) => card.querySelector("dd")?.textContent)).toEqual(["$9.00", "$10.00"]);
    fireEvent.change(screen.getByLabelText("Sort by"), { target: { value: "-1" } });
    expect(cards().map((card) => card.querySelector("dd")?.textContent)).toEqual(["$10.00", "$9.00"]);
  });
});
