// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openChat } from "../../fixtures/chat.ts";
import { NO_ACTIONS } from "../../fixtures/responsePanel.tsx";
import { done, settle } from "../../fixtures/server.ts";
import { viewedAnswersOf, viewedPart } from "../../state/chat/viewedAnswers.ts";
import type { ChatEvent } from "../../types/models.ts";
import { preloadMenu } from "../ui/Menu.tsx";
import CompareColumns from "./CompareColumns.tsx";

vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));

beforeAll(preloadMenu);
beforeEach(() => {
  for (const observer of ["ResizeObserver", "IntersectionObserver"])
    vi.stubGlobal(
      observer,
      class {
        observe() {}
        disconnect() {}
      },
    );
  Element.prototype.scrollIntoView = () => undefined;
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const FILE: readonly ChatEvent[] = [
  { type: "preview", id: "a", name: "create_file", key: "/path", text: "index.html" },
  { type: "preview", id: "a", key: "/content", text: "<h1>Hi" },
];

const DONE = done() as ChatEvent;
const text = (content: string): ChatEvent => ({ type: "content", content });

/** Two variants of one answer, and a function that feeds events to one of them. */
async function variants() {
  const { server, chat } = openChat({}, { models: ["m", "m"], fields: (_, at) => ({ column: at }) });
  void chat.send("Build a page.");
  await settle();
  await settle();
  const entry = () => {
    const last = chat.state.entries[1];
    if (last?.kind !== "answer") throw new Error("There is no answer.");
    return last;
  };
  const view = () => (
    <CompareColumns
      {...{ chat, models: [], parts: entry().beside, chosen: entry().part.key }}
      panels="automatic"
      actionsOf={() => NO_ACTIONS}
    />
  );
  const { rerender } = render(view());
  chat.subscribe(() => rerender(view()));
  const feed = (at: number, ...events: readonly ChatEvent[]) => act(async () => server.asked[at]?.send(...events));
  const viewed = () => viewedPart(entry(), viewedAnswersOf(chat).state.slots).column;
  return { chat, feed, viewed };
}

const tab = (name: RegExp) => screen.getByRole("tab", { name });
const press = (code: string, more: object = {}) => fireEvent.keyDown(document.body, { code, altKey: true, ...more });

describe("variants of an answer", () => {
  it("are columns, and tabs with their status once one of them writes a file", async () => {
    const { feed } = await variants();
    expect(screen.queryAllByRole("tab")).toEqual([]);
    await feed(0, ...FILE);
    expect(tab(/Variant 1/).textContent).toContain("Creating index.html · 6 bytes");
    expect(tab(/Variant 2/).textContent).toContain("Waiting for the model");
    await feed(1, text("I cannot."), DONE);
    expect(tab(/Variant 2/).textContent).not.toContain("Waiting");
  });

  it("are switched with Alt and a digit, in tabs and in columns", async () => {
    const { feed, viewed } = await variants();
    press("Digit2");
    expect(viewed()).toBe(1);
    expect(document.activeElement?.getAttribute("data-part")).toBe("column");
    press("Digit1");
    await feed(0, ...FILE);
    expect(tab(/Variant 1/).getAttribute("aria-selected")).toBe("true");
    press("Digit2");
    expect(tab(/Variant 2/).getAttribute("aria-selected")).toBe("true");
    for (const other of [{ ctrlKey: true }, { altKey: false }, { shiftKey: true }]) press("Digit1", other);
    press("Digit3");
    expect(viewed()).toBe(1);
  });

  it("are not switched under a dialog", async () => {
    const { viewed } = await variants();
    const dialog = document.body.appendChild(document.createElement("div"));
    dialog.setAttribute("role", "dialog");
    press("Digit2");
    expect(viewed()).toBe(0);
    dialog.remove();
    press("Digit2");
    expect(viewed()).toBe(1);
  });

  it("are followed by the next message once one is chosen", async () => {
    const { chat, feed, viewed } = await variants();
    await feed(0, ...FILE);
    await feed(1, text("A page."), DONE);
    press("Digit2");
    fireEvent.click(screen.getByRole("button", { name: /^Continue with this answer/ }));
    await act(settle);
    expect(chat.state.entries[1]?.part).toMatchObject({ column: 1 });
    expect(viewed()).toBe(1);
  });
});
