// Highlights growing text. A finished line is tokenized once; the last line is tokenized again as it grows.
import type { GrammarState } from "shiki/core";
import type { Line } from "./highlight.ts";
import type { Coloured, Grammar } from "./shikiLanguages.ts";

/** The changed lines, from line `from` to the end. The last one may still grow. */
export interface Change {
  from: number;
  lines: readonly Line[];
  /** The number of highlighted characters. The rest has no colours yet. */
  length: number;
}

/** A longer unfinished line is tokenized in steps that grow with it, so that the total work is linear. */
const SOON = 400;
const GROWTH = 1.25;

export class IncrementalHighlight {
  readonly #grammar: Grammar;
  #state: GrammarState | undefined;
  /** The number of finished lines, and of the characters in them. */
  #ended = 0;
  #length = 0;
  /** The unfinished line: its text, and its highlighted part. */
  #tail = "";
  #last: { line: Line; length: number } = { line: [], length: 0 };

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
  }

  add(text: string): Change {
    const from = this.#ended;
    const at = text.lastIndexOf("\n");
    const ended = at < 0 ? [] : this.#end(this.#tail + text.slice(0, at));
    this.#tail = at < 0 ? this.#tail + text : text.slice(at + 1);
    this.#colourTail();
    return { from, lines: [...ended, this.#last.line], length: this.#length + this.#last.length };
  }

  #end(code: string): readonly Line[] {
    const { lines, state } = this.#read(code);
    this.#state = state;
    this.#ended += lines.length;
    this.#length += code.length + 1;
    this.#last = { line: [], length: 0 };
    return lines;
  }

  #colourTail(): void {
    const { length } = this.#tail;
    if (length === 0 || (length > SOON && length < this.#last.length * GROWTH)) return;
    this.#last = { line: this.#read(this.#tail).lines[0] ?? [], length };
  }

  #read(code: string): Coloured {
    return this.#grammar(code.replace(/\r$/, ""), this.#state);
  }
}
