// Shows a page in the preview frame without flicker: the next state loads in a second frame behind the visible one.
import type { FrameFile, FrameMode, FromFrame, LogLevel, ScrollPosition, ToFrame } from "../../types/previewFrame.ts";
import { BASE_URL } from "../server/server.ts";

export interface StageReports {
  /** The frame does not respond, or does again. */
  onHung: (isHung: boolean) => void;
  onLink: (url: string) => void;
  onOpen: (path: string) => void;
  onLog: (level: LogLevel, text: string) => void;
  /** Nothing of the page is visible yet, or something is. */
  onEmpty: (isEmpty: boolean) => void;
  /** Another document is loaded: what was logged before is outdated. */
  onFresh: () => void;
}

export interface Shown {
  files: ReadonlyMap<string, FrameFile>;
  entry: string;
  /** Files are still being written, so scripts do not run. */
  isDraft: boolean;
}

interface Frame {
  element: HTMLIFrameElement;
  mode: FrameMode;
  entry: string;
  isReady: boolean;
  /** What it has, or gets once it is ready. */
  sent: ReadonlyMap<string, FrameFile>;
}

const UPDATE_MS = 300;
const PING_MS = 1000;
const HUNG_MS = 4000;
const TOP: ScrollPosition = { x: 0, y: 0 };

export class FrameStage {
  readonly #box: HTMLElement;
  readonly #reports: StageReports;
  readonly #timer: ReturnType<typeof setInterval>;
  #visible: Frame | undefined;
  #coming: Frame | undefined;
  #wanted: Shown | undefined;
  #scroll = TOP;
  #sentAt = Number.NEGATIVE_INFINITY;
  #update: ReturnType<typeof setTimeout> | undefined;
  #unanswered = 0;
  #isHung = false;

  constructor(box: HTMLElement, reports: StageReports) {
    this.#box = box;
    this.#reports = reports;
    window.addEventListener("message", this.#onMessage);
    this.#timer = setInterval(() => this.#ping(), PING_MS);
  }

  show(wanted: Shown): void {
    const target = this.#target;
    this.#wanted = wanted;
    if (
      !wanted.isDraft &&
      target?.mode === "live" &&
      target.entry === wanted.entry &&
      isEqual(target.sent, wanted.files)
    )
      return;
    if (target?.entry !== wanted.entry) this.#scroll = TOP;
    if (wanted.isDraft && target?.mode === "draft" && target.entry === wanted.entry) this.#updateSoon();
    else this.#load(wanted.isDraft ? "draft" : "live");
  }

  /** Load the page again, also if it does not respond. */
  reload(): void {
    this.#remove(this.#visible);
    this.#visible = undefined;
    if (this.#wanted) this.#load(this.#wanted.isDraft ? "draft" : "live");
  }

  /** Print what is visible now. */
  print(): void {
    this.#visible?.element.contentWindow?.postMessage({ type: "snapshot" } satisfies ToFrame, "*");
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#update);
    window.removeEventListener("message", this.#onMessage);
    this.#box.replaceChildren();
  }

  get #target(): Frame | undefined {
    return this.#coming ?? this.#visible;
  }

  #load(mode: FrameMode): void {
    const wanted = this.#wanted;
    if (!wanted) return;
    this.#remove(this.#coming);
    const element = document.createElement("iframe");
    element.setAttribute("sandbox", "allow-scripts");
    element.title = `Preview of ${wanted.entry}`;
    element.src = frameAddress(mode);
    const isFirst = this.#visible === undefined;
    const frame: Frame = { element, mode, entry: wanted.entry, isReady: false, sent: wanted.files };
    this.#setHung(false);
    if (isFirst) this.#visible = frame;
    else {
      element.inert = true;
      element.className = "invisible";
      this.#coming = frame;
    }
    if (isFirst) this.#reports.onFresh();
    this.#box.append(element);
  }

  #remove(frame: Frame | undefined): void {
    frame?.element.remove();
    if (frame && frame === this.#coming) this.#coming = undefined;
  }

  readonly #onMessage = ({ source, data }: MessageEvent<FromFrame>): void => {
    const frame = [this.#visible, this.#coming].find((one) => one?.element.contentWindow === source);
    // The page in the frame can send anything.
    if (!frame || typeof data !== "object" || data === null) return;
    switch (data.type) {
      case "ready":
        frame.isReady = true;
        frame.sent = new Map();
        this.#send(frame);
        break;
      case "shown":
        if (frame === this.#coming && data.isEmpty !== true) this.#swap(frame);
        if (frame === this.#visible) this.#reports.onEmpty(data.isEmpty === true);
        break;
      case "pong":
        if (frame === this.#target) this.#setHung(false);
        break;
      case "scroll":
        if (frame === this.#visible) this.#scroll = scrollOf(data.scroll);
        break;
      case "snapshot":
        if (frame === this.#visible && typeof data.html === "string") this.#print(data.html);
        break;
      default:
        if (frame === this.#visible) this.#report(data);
    }
  };

  #report(data: FromFrame): void {
    if (data.type === "link" && typeof data.url === "string") this.#reports.onLink(data.url);
    else if (data.type === "open" && typeof data.path === "string") this.#reports.onOpen(data.path);
    else if (data.type === "log" && typeof data.text === "string") this.#reports.onLog(data.level, data.text);
  }

  #swap(frame: Frame): void {
    this.#visible?.element.remove();
    frame.element.inert = false;
    frame.element.className = "";
    this.#visible = frame;
    this.#coming = undefined;
    this.#reports.onFresh();
  }

  #updateSoon(): void {
    if (this.#update !== undefined) return;
    const wait = Math.max(0, this.#sentAt + UPDATE_MS - performance.now());
    this.#update = setTimeout(() => {
      this.#update = undefined;
      if (this.#target?.mode === "draft" && this.#target.isReady) this.#send(this.#target);
    }, wait);
  }

  /** Send what has changed since the last message. */
  #send(frame: Frame): void {
    const files = this.#wanted?.files;
    if (!files) return;
    const changed = Object.fromEntries([...files].filter(([path, file]) => frame.sent.get(path) !== file));
    const removed = [...frame.sent.keys()].filter((path) => !files.has(path));
    frame.sent = new Map(files);
    this.#sentAt = performance.now();
    const { mode, entry, element } = frame;
    const message: ToFrame = { type: "files", mode, changed, removed, entry, scroll: this.#scroll };
    element.contentWindow?.postMessage(message, "*");
  }

  #ping(): void {
    const target = this.#target;
    // A hidden tab answers late.
    if (!target || document.hidden) return;
    this.#unanswered += PING_MS;
    if (this.#unanswered > HUNG_MS) this.#setHung(true);
    target.element.contentWindow?.postMessage({ type: "ping" } satisfies ToFrame, "*");
  }

  #setHung(isHung: boolean): void {
    if (!isHung) this.#unanswered = 0;
    if (this.#isHung === isHung) return;
    this.#isHung = isHung;
    this.#reports.onHung(isHung);
  }

  /** In a third frame, which shows no script and may open the dialog of the browser. */
  #print(html: string): void {
    const wanted = this.#wanted;
    if (!wanted) return;
    const element = document.createElement("iframe");
    element.setAttribute("sandbox", "allow-scripts allow-modals");
    element.inert = true;
    element.className = "invisible";
    element.title = `Print of ${wanted.entry}`;
    element.src = frameAddress("print");
    const onMessage = ({ source, data }: MessageEvent<FromFrame>) => {
      if (source !== element.contentWindow) return;
      if (data?.type === "ready") {
        const changed = Object.fromEntries(new Map(wanted.files).set(wanted.entry, html));
        const message: ToFrame = {
          type: "files",
          mode: "print",
          changed,
          removed: [],
          entry: wanted.entry,
          scroll: TOP,
        };
        element.contentWindow?.postMessage(message, "*");
      } else if (data?.type === "shown") {
        window.removeEventListener("message", onMessage);
        element.remove();
      }
    };
    window.addEventListener("message", onMessage);
    this.#box.append(element);
  }
}

/** Equal texts and the same images. */
const isEqual = (one: ReadonlyMap<string, FrameFile>, other: ReadonlyMap<string, FrameFile>): boolean =>
  one.size === other.size && [...one].every(([path, file]) => other.get(path) === file);

export const frameAddress = (mode: FrameMode): string =>
  `${BASE_URL}/preview-frame${mode === "live" ? "" : `?mode=${mode}`}`;

function scrollOf(scroll: unknown): ScrollPosition {
  const { x, y } = { ...(scroll as Partial<ScrollPosition> | null) };
  return typeof x === "number" && typeof y === "number" ? { x, y } : TOP;
}
