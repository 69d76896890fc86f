// Asks the worker for the colours of code, also while it grows; without it, or for what it does not know, code stays plain.
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Change } from "./incrementalHighlight.ts";
import { type Language, languageOf } from "./languageNames.ts";

export type Colour = "comment" | "keyword" | "string" | "number" | "name" | "type" | "added" | "removed";
/** Words and their colour; those without one are the text's own. */
export type Line = readonly (readonly [Colour | "", string])[];

/** `id` names a block. Its text is sent in order, each character once. */
export interface Question {
  id: number;
  language: Language;
  /** Absent: the block is no longer shown. */
  text?: string;
}

export interface Answer {
  id: number;
  /** Absent: the worker could not do it. */
  change?: Change;
}

/** The coloured beginning of a block. */
export interface Coloured {
  /** Its lines, so many together; only the last group changes. */
  groups: readonly (readonly Line[])[];
  /** How many characters that is. */
  length: number;
}

/** Code behind this stays plain: each coloured word is an element. */
const LONGEST = 60_000;
/** So much is coloured, and drawn, in one go: the first colours show soon, and a long block blocks no key press. */
const AT_ONCE = 2_000;
const GROUP = 16;
const KEPT = 200;
const NOTHING: Coloured = { groups: [], length: 0 };

let worker: Worker | undefined;
let asked = 0;
const shown = new Map<number, Highlighting>();
/** An answer that scrolls out of sight and back does not wait again. */
const known = new Map<string, Coloured>();

function startWorker(): Worker {
  const started = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data: { id, change } }: MessageEvent<Answer>) => {
    if (change) shown.get(id)?.take(change);
  });
  return started;
}

const keyOf = (language: Language, code: string): string => `${language}\n${code}`;

/** The colours of one block, asked for piece by piece: never more than one question waits for its answer. */
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

  /** Whether this text is the one that is being coloured, perhaps with more behind it. */
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

/** So many characters, or all there are. */
function textFrom(pieces: readonly string[], from: number, length: number): string {
  const [at, offset] = placeOf(pieces, from);
  let text = pieces[at]?.slice(offset) ?? "";
  for (const piece of pieces.slice(at + 1)) {
    if (text.length >= length) break;
    text += piece;
  }
  return text.slice(0, length);
}

/** The piece that holds this character, and where in it. */
function placeOf(pieces: readonly string[], character: number): [piece: number, offset: number] {
  let [at, offset] = [0, character];
  for (; at < pieces.length - 1 && offset >= (pieces[at] ?? "").length; at++) offset -= (pieces[at] ?? "").length;
  return [at, offset];
}

/** What stands behind the coloured lines: the rest of the piece in which they end, and the number of the next one. */
export function restOf(pieces: readonly string[], length: number): { text: string; next: number } {
  if (length === 0) return { text: "", next: 0 };
  const [at, offset] = placeOf(pieces, length);
  return { text: pieces[at]?.slice(offset) ?? "", next: at + 1 };
}

/** As much of the code as has colours by now. */
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
