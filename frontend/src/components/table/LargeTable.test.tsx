// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Row } from "../../logic/table/dataTable.ts";
import type { Column } from "../../types/dataTable.ts";
import { DataTableView } from "./DataTableView.tsx";

const ROW_PX = 40;
const BOX_PX = 400;
/** The rows in view and near it. */
const MOST_ROWS = 40;

let width = 900;
/** The rows that were scrolled into view. */
let scrolledTo: (string | null)[] = [];
const observers = new Set<() => void>();

/** A layout with rows of equal height in a box of 400 px. */
class Sizes {
  readonly #notify: ResizeObserverCallback;
  constructor(notify: ResizeObserverCallback) {
    this.#notify = notify;
  }
  observe(target: Element) {
    if (target.tagName === "TBODY") observers.add(() => this.#notify([], this as unknown as ResizeObserver));
    const height = target.hasAttribute("data-index") ? ROW_PX : BOX_PX;
    const entry = { target, contentRect: { width, height } } as unknown as ResizeObserverEntry;
    queueMicrotask(() => act(() => this.#notify([entry], this as unknown as ResizeObserver)));
  }
  unobserve() {}
  disconnect() {}
}

beforeEach(() => {
  width = 900;
  scrolledTo = [];
  observers.clear();
  Element.prototype.scrollIntoView = function (this: Element) {
    scrolledTo.push(this.getAttribute("data-index"));
  };
  vi.stubGlobal("ResizeObserver", Sizes);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockImplementation(() => width);
  vi.spyOn(HTMLElement.prototype, "offsetParent", "get").mockReturnValue(document.body);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const COLUMNS: Column[] = [
  { key: "name", label: "Product", priority: "primary", format: { kind: "link", hrefKey: "url" } },
  { key: "price", label: "Price", priority: "secondary", format: { kind: "currency", currency: "USD" } },
];
const ROWS: readonly Row[] = Array.from({ length: 1000 }, (_, index) => ({
  name: `Mug ${index + 1}`,
  url: `https://shop.example/${index + 1}`,
  price: 1000 - index,
}));

const show = (data: readonly Row[] = ROWS) =>
  render(<DataTableView table={{ surfaceId: "t-1", caption: "Mugs", columns: COLUMNS, data: [...data] }} />);
const table = () => screen.getByRole("table", { name: "Mugs" });
const box = () => screen.getByRole("region", { name: "Rows of Mugs" });
const links = () =>
  within(box())
    .queryAllByRole("link")
    .map((link) => link.textContent);
const shownFrom = (first: string) => waitFor(() => expect(links()[0]).toBe(first));
const scrollTo = (top: number) => {
  box().scrollTop = top;
  fireEvent.scroll(box());
};
const filter = (text: string) =>
  fireEvent.change(screen.getByRole("searchbox", { name: "Filter Mugs" }), { target: { value: text } });

it("renders the rows in view of 1,000 rows, and says where they are", async () => {
  show();
  await shownFrom("Mug 1");
  expect(links().length).toBeLessThan(MOST_ROWS);
  expect(table().getAttribute("aria-rowcount")).toBe("1001");
  scrollTo(500 * ROW_PX);
  await waitFor(() => expect(links()).toContain("Mug 501"));
  expect(links().length).toBeLessThan(MOST_ROWS);
  expect(links()).not.toContain("Mug 1");
  const row = screen.getByRole("link", { name: "Mug 501" }).closest("[role=row]");
  expect(row?.getAttribute("aria-rowindex")).toBe("502");
});

it("sorts and filters all rows, and shows the result from its beginning", async () => {
  show();
  await shownFrom("Mug 1");
  scrollTo(500 * ROW_PX);
  await waitFor(() => expect(links()).toContain("Mug 501"));
  fireEvent.click(screen.getByRole("button", { name: "Price" }));
  expect(box().scrollTop).toBe(0);
  fireEvent.scroll(box());
  await shownFrom("Mug 1000");
  filter("$17 mug");
  await shownFrom("Mug 984");
  // $17.00 and $170.00 to $179.00, the cheapest first.
  expect(links()).toEqual(["Mug 984", ...Array.from({ length: 10 }, (_, index) => `Mug ${831 - index}`)]);
  expect(screen.getByText("11 of 1,000 rows")).toBeDefined();
  expect(screen.getByRole("status").textContent).toBe("11 rows. Sorted by Price, ascending.");
  filter("no such mug");
  await waitFor(() => expect(links()).toEqual([]));
  expect(screen.getByText("0 of 1,000 rows")).toBeDefined();
});

it("clears the filter with Escape, which goes no further", async () => {
  const onKeyDown = vi.fn();
  document.addEventListener("keydown", onKeyDown);
  show();
  filter("Mug 77");
  const field = screen.getByRole<HTMLInputElement>("searchbox");
  fireEvent.keyDown(field, { key: "Escape" });
  expect(field.value).toBe("");
  expect(onKeyDown).not.toHaveBeenCalled();
  fireEvent.keyDown(field, { key: "Escape" });
  expect(onKeyDown).toHaveBeenCalledOnce();
  document.removeEventListener("keydown", onKeyDown);
  await shownFrom("Mug 1");
});

it("keeps the row with the focus and those near it when they leave the view", async () => {
  show();
  await shownFrom("Mug 1");
  const link = screen.getByRole("link", { name: "Mug 2" });
  act(() => link.focus());
  scrollTo(500 * ROW_PX);
  await waitFor(() => expect(links()).toContain("Mug 501"));
  expect(links().slice(0, 3)).toEqual(["Mug 1", "Mug 2", "Mug 3"]);
  expect(document.activeElement).toBe(link);
});

it("has the next rows before the box has scrolled to them, so that Tab stays in the table", async () => {
  show();
  await shownFrom("Mug 1");
  for (let mug = 1; mug < 100; mug++) {
    const link = within(box()).getByText(`Mug ${mug}`);
    act(() => link.focus());
    const after = links()[links().indexOf(link.textContent) + 1];
    expect(after).toBe(`Mug ${mug + 1}`);
  }
  // Tab skips hidden rows. Those that are not measured yet are transparent.
  expect(box().querySelectorAll('[style*="hidden"]')).toHaveLength(0);
  act(() => screen.getByRole("searchbox").focus());
  await waitFor(() => expect(links()).not.toContain("Mug 100"));
});

it("keeps the row with the focus in view while rows before it are measured, until the reader scrolls", async () => {
  show();
  await shownFrom("Mug 1");
  act(() => screen.getByRole("link", { name: "Mug 3" }).focus());
  await waitFor(() => expect(scrolledTo).toContain("2"));
  scrolledTo = [];
  fireEvent.wheel(box());
  for (const measured of observers) measured();
  expect(scrolledTo).toEqual([]);
});

it("copies all rows that the filter leaves, not only those in view", async () => {
  const copied = vi.fn(async (_: string) => undefined);
  vi.stubGlobal("navigator", Object.assign(Object.create(navigator), { clipboard: { writeText: copied } }));
  show();
  await shownFrom("Mug 1");
  fireEvent.click(screen.getByRole("button", { name: "Copy as CSV" }));
  await waitFor(() => expect(copied).toHaveBeenCalledOnce());
  const lines = copied.mock.calls[0]?.[0].split("\r\n");
  expect(lines).toHaveLength(1001);
  expect(lines?.[0]).toBe("Product,Product: address,Price");
  expect(lines?.[1000]).toBe("Mug 1000,https://shop.example/1000,1");
});

it("renders the cards in view, and keeps a card open that leaves the view", async () => {
  width = 390;
  show();
  await shownFrom("Mug 1");
  expect(links().length).toBeLessThan(MOST_ROWS);
  const details = () => screen.getByRole("link", { name: "Mug 1" }).closest("li")?.querySelector("details");
  const opened = details();
  if (!opened) throw new Error("the card has no details");
  opened.open = true;
  fireEvent(opened, new Event("toggle"));
  scrollTo(500 * ROW_PX);
  await waitFor(() => expect(links()).not.toContain("Mug 1"));
  scrollTo(0);
  await shownFrom("Mug 1");
  expect(details()).not.toBe(opened);
  expect(details()?.open).toBe(true);
});

it("has no filter and no window for 50 rows", () => {
  show(ROWS.slice(0, 50));
  expect(links()).toHaveLength(50);
  expect(screen.queryByRole("searchbox")).toBeNull();
});
