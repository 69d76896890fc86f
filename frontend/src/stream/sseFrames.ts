// Splits a byte stream into SSE frames, wherever it is cut.
import { createParser } from "eventsource-parser";
import type { ChatEvent } from "../types/receivedEvents.ts";
import { parseEvent } from "./parseEvent.ts";

export interface Frame {
  /** The frame's `id`, for `Last-Event-ID`. Empty if the server sends none. */
  id: string;
  /** Its sequence number. Undefined if the server sends none. */
  seq: number | undefined;
  event: ChatEvent;
}

/** `<run_id>:<seq>` → seq. */
export function seqOf(id: string): number | undefined {
  const digits = id.slice(id.lastIndexOf(":") + 1);
  return id.includes(":") && /^\d+$/.test(digits) ? Number(digits) : undefined;
}

/** Feed it network reads. It calls back for each frame with a known event. */
export class FrameReader {
  readonly #decoder = new TextDecoder("utf-8");
  readonly #parser;

  constructor(onFrame: (frame: Frame) => void) {
    this.#parser = createParser({
      onEvent: (message) => {
        const event = parseEvent(message.data);
        const id = message.id ?? "";
        if (event) onFrame({ id, seq: seqOf(id), event });
      },
    });
  }

  /** The decoder drops the leading byte order mark and buffers incomplete characters. */
  feed(bytes: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
  }
}

/** Tracks the position in a run over several connections and drops repeated frames. */
export class Cursor {
  lastId = "";
  lastSeq = -1;

  /** True if the frame is new. */
  accept(frame: Frame): boolean {
    if (frame.seq === undefined) return true;
    if (frame.seq <= this.lastSeq) return false;
    this.lastSeq = frame.seq;
    this.lastId = frame.id;
    return true;
  }
}
