// Highlights code in a worker, also while it grows. Code in unknown languages, or without a worker, stays plain.
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Change } from "./incrementalHighlight.ts";
import { type Language, languageOf } from "./languageNames.ts";

export type Colour = "comment" | "keyword" | "string" | "number" | "name" | "type" | "added" | "removed";
/** Words with their colour. Empty: the default colour. */
export type Line = readonly (readonly [Colour | "", string])[];

/** `id` identifies a block. Its text is sent in order, each character once. */
export interface Question {
  id: number;
  language: Language;
  /** Absent if the block is no longer shown. */
  text?: string;
}

export interface Answer {
  id: number;
  /** Absent if the worker failed. */
  change?: Change;
}

/** The highlighted beginning of a block. */
export interface Coloured {
  /** Groups of `GROUP` lines. Only the last group changes. */
  groups: readonly (readonly Line[])[];
  /** The number of highlighted characters. */
  length: number;
}

/** Code after this many characters stays plain, because each coloured word is an element. */
const LONGEST = 60_000;
/** Characters per request to the worker. The first colours appear soon, and a long block does not delay key presses. */
const AT_ONCE = 2_000;
const GROUP = 16;
const KEPT = 200;
const NOTHING: Coloured = { groups: [], length: 0 };

let worker: Worker | undefined;
let asked = 0;
const shown = new Map<number, Highlighting>();
/** Cached, so that an answer that scrolls back into view is coloured at once. */
const known = new Map<string, Coloured>();

function startWorker(): Worker {
  const started = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data: { id, change } }: MessageEvent<Answer>) => {
    if (change) shown.get(id)?.take(change);
  });
  return started;
}

const keyOf = (language: Language, code: string): string => `${language}\n${code}`;

/** The highlighting of one block. At most one request to the worker is open. */
class Highlighting {
  readonly #id = ++asked;
  readonly #language: Language;
  readonly #show: (coloured: Coloured) => void;
  #pieces: readonly string[] = [];
  #sent = 0;
  #isWaiting = false;
  #coloured = NOTHING;

  constructor(language: Language, show: (coloured: Coloured) => void) {
    this.#language = language;
    this.#show = show;
    shown.set(this.#id, this);
  }

  /** Return whether the text is the highlighted one, possibly with more appended. */
  isOf(language: Language, pieces: readonly string[]): boolean {
    if (language !== this.#language) return false;
    const last = this.#pieces.length - 1;
    return this.#pieces.every((piece, at) => (at < last ? piece === pieces[at] : pieces[at]?.startsWith(piece)));
  }

  read(pieces: readonly string[]): void {
    this.#pieces = pieces;
    this.#ask();
  }

  take({ from, lines, length }: Change): void {
    this.#isWaiting = false;
    this.#coloured = { groups: regrouped(this.#coloured.groups, from, lines), length };
    this.#show(this.#coloured);
    this.#ask();
  }

  end(): void {
    shown.delete(this.#id);
    worker?.postMessage({ id: this.#id, language: this.#language } satisfies Question);
    if (this.#isWaiting || this.#sent === 0) return;
    known.set(keyOf(this.#language, this.#pieces.join("")), this.#coloured);
    if (known.size > KEPT) known.delete(known.keys().next().value ?? "");
  }

  #ask(): void {
    if (this.#isWaiting) return;
    const text = textFrom(this.#pieces, this.#sent, Math.min(AT_ONCE, LONGEST - this.#sent));
    if (!text) return;
    worker ??= startWorker();
    worker.postMessage({ id: this.#id, language: this.#language, text } satisfies Question);
    this.#sent += text.length;
    this.#isWaiting = true;
  }
}

function regrouped(before: Coloured["groups"], from: number, lines: readonly Line[]): Coloured["groups"] {
  const first = Math.floor(from / GROUP);
  const changed = [...(before[first] ?? []).slice(0, from % GROUP), ...lines];
  const groups = before.slice(0, first);
  for (let at = 0; at < changed.length; at += GROUP) groups.push(changed.slice(at, at + GROUP));
  return groups;
}

/** Return up to `length` characters from a position. */
function textFrom(pieces: readonly string[], from: number, length: number): string {
  const [at, offset] = placeOf(pieces, from);
  let text = pieces[at]?.slice(offset) ?? "";
  for (const piece of pieces.slice(at + 1)) {
    if (text.length >= length) break;
    text += piece;
  }
  return text.slice(0, length);
}

/** Find the piece that contains a character, and the offset in it. */
function placeOf(pieces: readonly string[], character: number): [piece: number, offset: number] {
  let [at, offset] = [0, character];
  for (; at < pieces.length - 1 && offset >= (pieces[at] ?? "").length; at++) offset -= (pieces[at] ?? "").length;
  return [at, offset];
}

/** Return what follows the highlighted lines: the rest of the current piece, and the index of the next one. */
export function restOf(pieces: readonly string[], length: number): { text: string; next: number } {
  if (length === 0) return { text: "", next: 0 };
  const [at, offset] = placeOf(pieces, length);
  return { text: pieces[at]?.slice(offset) ?? "", next: at + 1 };
}

/** The highlighted part of the code. */
export function useHighlight(pieces: readonly string[], words: string): Coloured {
  const language = languageOf(words);
  const [coloured, setColoured] = useState(() => (language && known.get(keyOf(language, pieces.join("")))) ?? NOTHING);
  const [isKnown] = useState(coloured !== NOTHING && pieces);
  const highlighting = useRef<Highlighting>(undefined);
  useLayoutEffect(() => {
    const isEmpty = pieces.every((piece) => !piece);
    if (!language || isEmpty || pieces === isKnown || typeof Worker === "undefined") return;
    if (highlighting.current && !highlighting.current.isOf(language, pieces)) {
      highlighting.current.end();
      highlighting.current = undefined;
      setColoured(NOTHING);
    }
    highlighting.current ??= new Highlighting(language, setColoured);
    highlighting.current.read(pieces);
  }, [language, pieces, isKnown]);
  useEffect(() => () => highlighting.current?.end(), []);
  return coloured;
}
