// A small, inert picture of a page: a preview frame that runs no scripts and shows changes at most every two seconds.
import type { FrameFile, FromFrame, ToFrame } from "../../types/previewFrame.ts";
import { frameAddress } from "./frameStage.ts";

export interface ThumbnailPage {
  files: ReadonlyMap<string, FrameFile>;
  /** The path of the shown page. */
  entry: string;
}

export const UPDATE_MS = 2000;

export class ThumbnailFrame {
  readonly #box: HTMLElement;
  #frame: HTMLIFrameElement | undefined;
  #isReady = false;
  #isVisible = false;
  #wanted: ThumbnailPage | undefined;
  #sent: ReadonlyMap<string, FrameFile> = new Map();
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(box: HTMLElement) {
    this.#box = box;
    window.addEventListener("message", this.#onMessage);
    document.addEventListener("visibilitychange", this.#updateSoon);
  }

  show(page: ThumbnailPage): void {
    this.#wanted = page;
    this.#updateSoon();
  }

  /** Whether the box is in sight. Out of sight, nothing is updated. */
  setVisible(isVisible: boolean): void {
    this.#isVisible = isVisible;
    this.#updateSoon();
  }

  end(): void {
    clearTimeout(this.#timer);
    window.removeEventListener("message", this.#onMessage);
    document.removeEventListener("visibilitychange", this.#updateSoon);
    this.#frame?.remove();
  }

  readonly #updateSoon = (): void => {
    if (!this.#wanted || !this.#isVisible || document.hidden || this.#timer !== undefined) return;
    this.#frame ??= this.#load();
    if (!this.#isReady) return;
    const wait = Math.max(0, this.#sentAt + UPDATE_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, wait);
  };

  #load(): HTMLIFrameElement {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = "Thumbnail";
    frame.tabIndex = -1;
    frame.inert = true;
    frame.src = frameAddress("draft");
    this.#box.append(frame);
    return frame;
  }

  readonly #onMessage = ({ source, data }: MessageEvent<FromFrame>): void => {
    if (!this.#frame || source !== this.#frame.contentWindow || data?.type !== "ready") return;
    this.#isReady = true;
    this.#sent = new Map();
    this.#updateSoon();
  };

  #send(): void {
    if (!this.#wanted || !this.#isVisible || document.hidden) return;
    const { files, entry } = this.#wanted;
    const changed = Object.fromEntries([...files].filter(([path, file]) => this.#sent.get(path) !== file));
    const removed = [...this.#sent.keys()].filter((path) => !files.has(path));
    if (Object.keys(changed).length === 0 && removed.length === 0) return;
    this.#sent = files;
    this.#sentAt = performance.now();
    const message: ToFrame = { type: "files", mode: "draft", changed, removed, entry, scroll: { x: 0, y: 0 } };
    this.#frame?.contentWindow?.postMessage(message, "*");
  }
}
