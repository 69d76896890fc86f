// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { FromFrame, ToFrame } from "../../types/previewFrame.ts";
import { FrameStage, type Shown } from "./frameStage.ts";

const reports = {
  onHung: vi.fn(),
  onEmpty: vi.fn(),
  onLink: vi.fn(),
  onOpen: vi.fn(),
  onLog: vi.fn(),
  onFresh: vi.fn(),
};
let box: HTMLElement;
let stage: FrameStage;
let sent: { src: string; message: ToFrame }[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "performance"] });
  box = document.body.appendChild(document.createElement("div"));
  stage = new FrameStage(box, reports);
  sent = [];
});
afterEach(() => {
  stage.end();
  box.remove();
  vi.clearAllMocks();
  vi.useRealTimers();
});

const frames = () => [...box.querySelectorAll("iframe")];
const modes = () => frames().map(({ src, className }) => `${src.split("mode=")[1] ?? "live"}${className && " behind"}`);
const page = (text: string, isDraft: boolean): Shown => ({
  files: new Map([["a.html", text]]),
  entry: "a.html",
  isDraft,
});

/** A message from a frame. A frame that is ready records what it gets. */
function send(frame: HTMLIFrameElement | undefined, data: FromFrame): void {
  const window_ = frame?.contentWindow;
  if (window_ && data?.type === "ready")
    window_.postMessage = (message: ToFrame) => void sent.push({ src: frame.src, message });
  window.dispatchEvent(new MessageEvent("message", { source: window_ ?? null, data }));
}

const texts = () => sent.flatMap(({ message }) => (message.type === "files" ? Object.values(message.changed) : []));

it("a draft is updated at most every 300 ms, with what has changed", () => {
  stage.show(page("<p>1", true));
  send(frames()[0], { type: "ready" });
  for (const text of ["<p>12", "<p>123", "<p>1234"]) stage.show(page(text, true));
  expect(texts()).toEqual(["<p>1"]);
  vi.advanceTimersByTime(300);
  expect(texts()).toEqual(["<p>1", "<p>1234"]);
  expect(modes()).toEqual(["draft"]);
});

it("a complete page loads behind the draft, and replaces it when it is shown", () => {
  stage.show(page("<p>", true));
  send(frames()[0], { type: "ready" });
  send(frames()[0], { type: "scroll", scroll: { x: 0, y: 40 } });
  stage.show(page("<p>all", false));
  expect(modes()).toEqual(["draft", "live behind"]);
  send(frames()[1], { type: "ready" });
  expect(sent.at(-1)?.message).toMatchObject({ mode: "live", scroll: { x: 0, y: 40 } });
  send(frames()[1], { type: "shown", isEmpty: false });
  expect(modes()).toEqual(["live"]);
  stage.show(page("<p>all", false));
  expect(modes()).toEqual(["live"]);
});

it("a draft stays behind the last page while it shows nothing", () => {
  stage.show(page("<p>old", false));
  stage.show(page("<style>", true));
  send(frames()[1], { type: "ready" });
  send(frames()[1], { type: "shown", isEmpty: true });
  expect(modes()).toEqual(["live", "draft behind"]);
  send(frames()[1], { type: "shown", isEmpty: false });
  expect(modes()).toEqual(["draft"]);
});

it("a frame that does not answer is reported, until it answers or is loaded again", () => {
  stage.show(page("<p>", false));
  vi.advanceTimersByTime(4000);
  expect(reports.onHung).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(reports.onHung).toHaveBeenLastCalledWith(true);
  send(frames()[0], { type: "pong" });
  expect(reports.onHung).toHaveBeenLastCalledWith(false);
  const [before] = frames();
  stage.reload();
  expect(frames()).toHaveLength(1);
  expect(frames()[0]).not.toBe(before);
});

it("messages of other windows, and of the wrong form, are ignored", () => {
  stage.show(page("<p>", false));
  window.dispatchEvent(new MessageEvent("message", { source: window, data: { type: "link", url: "https://x" } }));
  for (const data of [null, "text", { type: "link" }, { type: "log", text: 5 }, { type: "open" }, { type: "none" }])
    send(frames()[0], data as unknown as FromFrame);
  expect([reports.onLink, reports.onOpen, reports.onLog].flatMap((report) => report.mock.calls)).toEqual([]);
  send(frames()[0], { type: "link", url: "https://example.org" });
  expect(reports.onLink).toHaveBeenCalledWith("https://example.org");
});
