// @vitest-environment jsdom

import type { ChatEvent } from "@signalbox/client";
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { aTool } from "../../fixtures/catalogue.ts";
import {
  addText,
  call,
  done,
  type Fed,
  failed,
  feed,
  found,
  line,
  show as showWith,
} from "../../fixtures/responsePanel.tsx";
import type { Tool } from "../../types/api.ts";
import { preloadMenu } from "../ui/Menu.tsx";

vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));

const broken = vi.hoisted(() => ({ key: "" }));
vi.mock("../table/CellView.tsx", () => ({
  CellView: ({ row, column }: { row: Record<string, unknown>; column: { key: string } }) => {
    if (column.key === broken.key) throw new Error("broken");
    return <>{String(row[column.key])}</>;
  },
}));

beforeAll(preloadMenu);
afterEach(() => {
  cleanup();
  broken.key = "";
});

const LIST_STOCK = { name: "list_stock" };
const TOOLS: readonly Tool[] = [aTool("list_stock", { showsTable: true })];
const TABLE = {
  surfaceId: "t-1",
  caption: "Mugs",
  columns: [{ key: "name", label: "Product" }],
  data: [{ name: "Red" }],
};
const show = (answer: Fed) => showWith(answer, {}, "automatic", TOOLS);
const withTable = (over: object = {}) => found("a", [], { ...LIST_STOCK, artifact: { ...TABLE, ...over } });
/** Feed events and wait until the table has loaded. */
const feedTable = async (answer: Fed, ...events: readonly ChatEvent[]) => {
  await act(async () => answer.feed(...events));
  await vi.waitFor(() => expect(skeleton()).toBeNull());
};
const table = () => screen.queryByRole("table", { name: "Mugs" });
const skeleton = () => document.querySelector("[data-part=table-skeleton]");

describe("the table of a search", () => {
  it("has its place while the search runs, and stays when the panel of the search closes", async () => {
    const answer = scriptedAnswer("auto", call("a", 1, LIST_STOCK));
    show(answer);
    expect(skeleton()).not.toBeNull();
    await feedTable(answer, withTable());
    expect([skeleton(), line()[0]]).toEqual([null, "done Searched · 1 result +"]);
    feed(answer, addText("The red one."), done());
    expect(line()[0]).toBe("done Searched · 1 result");
    expect(table()).not.toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^Searched/ }));
    expect(document.querySelector("[data-part=query]")?.lastElementChild?.textContent).toBe("1 result");
  });

  it("gives the reason of a failed search", async () => {
    const answer = scriptedAnswer("auto", call("a", 1, LIST_STOCK));
    show(answer);
    await feedTable(
      answer,
      failed("a", "For the model.", "TIMEOUT", { ...LIST_STOCK, artifact: { ...TABLE, data: [], error: "Too slow." } }),
    );
    expect(document.querySelector("[data-part=table-error]")?.textContent).toBe("Too slow.");
  });

  it("loses its place if the call fails without a table", () => {
    const answer = scriptedAnswer("auto", call("a", 1, LIST_STOCK));
    show(answer);
    feed(answer, failed("a", "No.", "INVALID_ARGUMENTS", LIST_STOCK));
    expect([skeleton(), document.querySelector("[data-part=table]")]).toEqual([null, null]);
  });

  it("does not take the answer with it if it cannot be shown", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    broken.key = "name";
    const answer = scriptedAnswer("auto", call("a", 1, LIST_STOCK));
    show(answer);
    await feedTable(answer, withTable(), addText("The red one."));
    expect(screen.getByText("This table cannot be shown.")).toBeDefined();
    expect(screen.getByText("The red one.")).toBeDefined();
    errors.mockRestore();
  });
});
