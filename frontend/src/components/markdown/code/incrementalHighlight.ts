// Colours a text that grows: a line that has ended is read once, and only the last one again when it has grown.
import type { GrammarState } from "shiki/core";
import type { Line } from "./highlight.ts";
import type { Coloured, Grammar } from "./shikiLanguages.ts";

/** What has changed: from this line on the text has these lines, the last of which may still grow. */
export interface Change {
  from: number;
  lines: readonly Line[];
  /** So many characters of the text are in lines; those behind them have no colour yet. */
  length: number;
}

/** A longer unfinished line is read again only in steps that grow with it, so that all work is linear in the text. */
const SOON = 400;
const GROWTH = 1.25;

export class Colouring {
  readonly #grammar: Grammar;
  #state: GrammarState | undefined;
  /** Lines that have ended, and the characters in them. */
  #ended = 0;
  #length = 0;
  /** The line that has not ended: all of it, and how much of it has colours. */
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
