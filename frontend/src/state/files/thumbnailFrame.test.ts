// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ThumbnailFrame, UPDATE_MS } from "./thumbnailFrame.ts";

const page = (html: string) => ({ files: new Map([["index.html", html]]), entry: "index.html" });

/** A thumbnail whose frame is ready, and the pages that it was sent. */
function thumbnail() {
  const box = document.body.appendChild(document.createElement("div"));
  const made = new ThumbnailFrame(box);
  const sent: string[] = [];
  const ready = () => {
    const frame = box.querySelector("iframe");
    const target = frame?.contentWindow;
    if (!target) throw new Error("There is no frame.");
    target.postMessage = ((message: { changed: Record<string, string> }) =>
      sent.push(message.changed["index.html"] ?? "")) as typeof target.postMessage;
    window.dispatchEvent(new MessageEvent("message", { source: target, data: { type: "ready" } }));
  };
  return { box, made, sent, ready };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe("a thumbnail", () => {
  it("shows the first page at once, and later ones at most every two seconds", () => {
    const { made, sent, ready } = thumbnail();
    made.show(page("a"));
    made.setVisible(true);
    ready();
    vi.advanceTimersByTime(0);
    expect(sent).toEqual(["a"]);
    for (const html of ["b", "c", "d"]) made.show(page(html));
    vi.advanceTimersByTime(UPDATE_MS - 1);
    expect(sent).toEqual(["a"]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual(["a", "d"]);
    made.show(page("d"));
    vi.advanceTimersByTime(UPDATE_MS);
    expect(sent).toEqual(["a", "d"]);
  });

  it("loads nothing until it is in sight, and stops when it is out of sight", () => {
    const { box, made, sent, ready } = thumbnail();
    made.show(page("a"));
    expect(box.querySelector("iframe")).toBeNull();
    made.setVisible(true);
    ready();
    vi.advanceTimersByTime(0);
    made.setVisible(false);
    made.show(page("b"));
    vi.advanceTimersByTime(UPDATE_MS * 2);
    expect(sent).toEqual(["a"]);
    made.setVisible(true);
    vi.advanceTimersByTime(UPDATE_MS);
    expect(sent).toEqual(["a", "b"]);
  });

  it("runs no scripts and cannot be reached by keyboard", () => {
    const { box, made } = thumbnail();
    made.show(page("a"));
    made.setVisible(true);
    const frame = box.querySelector("iframe");
    expect(frame?.getAttribute("src")).toMatch(/\/preview-frame\?mode=draft$/);
    expect(frame?.getAttribute("sandbox")).toBe("allow-scripts");
    expect(frame?.tabIndex).toBe(-1);
    made.end();
    expect(box.querySelector("iframe")).toBeNull();
  });
});
