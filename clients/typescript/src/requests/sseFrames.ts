// Splits a byte stream into SSE frames, wherever it is cut.

import type { ChatEvent, UnknownEvent } from "../types/receivedEvents.ts";
import { parseEvent } from "./parseEvent.ts";

export interface Frame {
  /** The frame's `id`, for `Last-Event-ID`. Empty if the server sends none. */
  id: string;
  /** Its sequence number. Undefined if the server sends none. */
  seq: number | undefined;
  event: ChatEvent | UnknownEvent;
}

/** `<run_id>:<seq>` → seq. */
export function seqOf(id: string): number | undefined {
  const digits = id.slice(id.lastIndexOf(":") + 1);
  return id.includes(":") && /^\d+$/.test(digits) ? Number(digits) : undefined;
}

/** Feed it network reads. It calls back for each frame with an event. */
export class FrameReader {
  // Drops the leading byte order mark and buffers incomplete characters.
  readonly #decoder = new TextDecoder("utf-8");
  readonly #onFrame: (frame: Frame) => void;
  /** The beginning of an incomplete line. */
  #rest = "";
  /** The last read ended with a carriage return: a line feed after it belongs to the same line end. */
  #skipLineFeed = false;
  #id = "";
  #data: string | undefined;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  feed(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!text) return;
    let start = this.#skipLineFeed && text.startsWith("\n") ? 1 : 0;
    this.#skipLineFeed = text.endsWith("\r");
    let carriageReturn = text.indexOf("\r", start);
    let lineFeed = text.indexOf("\n", start);
    while (carriageReturn >= 0 || lineFeed >= 0) {
      const isReturn = carriageReturn >= 0 && (lineFeed < 0 || carriageReturn < lineFeed);
      const end = isReturn ? carriageReturn : lineFeed;
      this.#readLine(this.#rest + text.slice(start, end));
      this.#rest = "";
      start = end + (isReturn && lineFeed === end + 1 ? 2 : 1);
      if (isReturn) carriageReturn = text.indexOf("\r", start);
      if (lineFeed >= 0 && lineFeed < start) lineFeed = text.indexOf("\n", start);
    }
    this.#rest += text.slice(start);
  }

  #readLine(line: string): void {
    if (!line) {
      this.#endFrame();
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
  }

  #endFrame(): void {
    const [id, data] = [this.#id, this.#data];
    this.#id = "";
    this.#data = undefined;
    const event = data === undefined ? undefined : parseEvent(data);
    if (event) this.#onFrame({ id, seq: seqOf(id), event });
  }
}

/** Tracks the position in a run over several connections and drops repeated frames. */
export class Cursor {
  lastId = "";
  lastSeq = -1;

  /** Continue after the frame with this id. */
  start(id: string): void {
    this.lastId = id;
    this.lastSeq = seqOf(id) ?? -1;
  }

  /** True if the frame is new. */
  accept(frame: Frame): boolean {
    if (frame.seq === undefined) return true;
    if (frame.seq <= this.lastSeq) return false;
    this.lastSeq = frame.seq;
    this.lastId = frame.id;
    return true;
  }
}
