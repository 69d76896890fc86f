// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SHORTCUT_NAMES, type ShortcutName } from "../logic/chat/shortcuts.ts";
import { type ShortcutActions, useShortcuts } from "./shortcuts.ts";

let asked: ShortcutName[];
let off: ShortcutName | undefined;

function Page({ dialog = false, fading = false }: { dialog?: boolean; fading?: boolean }) {
  const actions = SHORTCUT_NAMES.map((name) => [name, name === off ? undefined : () => asked.push(name)]);
  useShortcuts(Object.fromEntries(actions) as ShortcutActions);
  return (
    <>
      <textarea aria-label="Field" />
      <input type="checkbox" />
      <button type="button" onKeyDown={(event) => event.key === "Escape" && event.preventDefault()}>
        Mine
      </button>
      <aside>
        <div role="listbox" aria-label="Chats" tabIndex={0} />
      </aside>
      {dialog && <div role="dialog" aria-label="Something" data-closed={fading ? "" : undefined} />}
    </>
  );
}

beforeEach(() => {
  asked = [];
  off = undefined;
});
afterEach(cleanup);

describe("the page's shortcuts", () => {
  it("work anywhere, and prevent the browser's default", () => {
    render(<Page />);
    expect(fireEvent.keyDown(document.body, { key: "k", ctrlKey: true })).toBe(false);
    fireEvent.keyDown(screen.getByLabelText("Field"), { key: "i", ctrlKey: true });
    fireEvent.keyDown(screen.getByRole("checkbox"), { key: "?", shiftKey: true });
    expect(asked).toEqual(["search", "inspect", "shortcuts"]);
  });

  it("leave letters to text fields and lists", () => {
    render(<Page />);
    expect(fireEvent.keyDown(screen.getByLabelText("Field"), { key: "?", shiftKey: true })).toBe(true);
    expect(fireEvent.keyDown(screen.getByLabelText("Chats"), { key: "?", shiftKey: true })).toBe(true);
    expect(asked).toEqual([]);
  });

  it("keep the browser's default if there is no action", () => {
    off = "inspect";
    render(<Page />);
    expect(fireEvent.keyDown(document.body, { key: "i", ctrlKey: true })).toBe(true);
  });

  it("ignore handled, repeated and composed keys", () => {
    render(<Page />);
    fireEvent.keyDown(screen.getByText("Mine"), { key: "Escape" });
    fireEvent.keyDown(document.body, { key: "Escape", repeat: true });
    fireEvent.keyDown(document.body, { key: "Escape", isComposing: true });
    expect(asked).toEqual([]);
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(asked).toEqual(["stop"]);
  });

  it("do not stop the answer with the Escape that closes a dialog", () => {
    const { rerender } = render(<Page dialog />);
    const close = vi.fn(() => rerender(<Page />));
    document.addEventListener("keydown", close, { once: true });
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(close).toHaveBeenCalled();
    expect(asked).toEqual([]);
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(asked).toEqual(["stop"]);
  });

  it("ignore dialogs that are fading out", () => {
    const { rerender } = render(<Page dialog />);
    const inspect = () => fireEvent.keyDown(document.body, { key: "i", ctrlKey: true });
    inspect();
    expect(asked).toEqual([]);
    rerender(<Page dialog fading />);
    inspect();
    expect(asked).toEqual(["inspect"]);
  });

  it("call the current actions", () => {
    const { rerender } = render(<Page />);
    off = "stop";
    rerender(<Page />);
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(asked).toEqual([]);
  });
});
