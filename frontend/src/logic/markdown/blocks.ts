// Splits Markdown into independent blocks, line by line, so that only the end of a growing answer is read again (quirk
// H1).
import { paragraphCut } from "./paragraphCuts.ts";

export type BlockKind = "text" | "list" | "table" | "code" | "math" | "definition" | "note";

export interface Block {
  kind: BlockKind;
  /** A long block is split into pieces, so that only its last one is parsed again while it grows. */
  pieces: readonly string[];
  /** The info string of a code fence. */
  language: string;
  /** The block may still grow. */
  open: boolean;
}

export interface BlockView {
  /** Groups of blocks. Only the last group may change. */
  groups: readonly (readonly Block[])[];
  /** Link and footnote definitions: each label with its line. */
  definitions: ReadonlyMap<string, string>;
}

/** The unfinished block. */
interface Open {
  kind: BlockKind;
  sealed: readonly string[];
  tail: string;
  language: string;
  /** The indentation of the first line, for lists and code fences. */
  indent: number;
  /** The marker of a list, or the closing mark of a code fence or formula. */
  mark: string;
  blank: boolean;
  lines: number;
}

interface Step {
  done: readonly Block[];
  open: Open | undefined;
}

const GROUP = 32;
const PIECE = 2_000;

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/;
const FENCE_ENDS = /^ {0,3}(`{3,}|~{3,})\s*$/;
const MATH = /^ {0,3}(\$\$|\\\[)(.*)$/;
const HEADING = /^( {0,3})#{1,6}(\s|$)/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(\s|$)/;
const INTERRUPTS = /^ {0,3}([-*+]|1[.)])\s+\S/;
const DEFINITION = /^ {0,3}\[(\^?[^\]]+)\]:/;
const DELIMITERS = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const PLAIN = /^ {0,3}(?![#>|<+-]|\* )\S/;
const INDENTED = /^( {4}|\t)/;

/** Reads a growing text incrementally. If the text is not a continuation, it starts over. */
export class BlockReader {
  #text = "";
  /** The text up to here is in blocks. A line without its end follows. */
  #taken = 0;
  #full: (readonly Block[])[] = [];
  #group: Block[] = [];
  #open: Open | undefined;
  /** The beginning of the current line is in a block already, so the rest starts no block. */
  #within = false;
  #definitions: ReadonlyMap<string, string> = new Map();

  read(text: string, settled: boolean): BlockView {
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    for (let end = text.indexOf("\n", this.#taken); end >= 0; end = text.indexOf("\n", this.#taken)) {
      const { done, open } = advance(this.#open, text.slice(this.#taken, end), this.#within);
      this.#keep(done);
      [this.#open, this.#taken, this.#within] = [open, end + 1, false];
    }
    return this.#view(settled);
  }

  #forget(): void {
    [this.#taken, this.#full, this.#group, this.#open, this.#within] = [0, [], [], undefined, false];
    this.#definitions = new Map();
  }

  #keep(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#group.push(block);
      this.#definitions = withDefinition(this.#definitions, block);
      if (this.#group.length < GROUP) continue;
      this.#full = [...this.#full, this.#group];
      this.#group = [];
    }
  }

  /** Treat the unfinished line as finished for now. It is read again when it grows. */
  #view(settled: boolean): BlockView {
    const line = this.#text.slice(this.#taken);
    const { done, open } = line ? advance(this.#open, line, this.#within) : { done: [], open: this.#open };
    if (line && open?.kind === "text" && open.sealed.length > (this.#open?.sealed.length ?? 0))
      this.#takeWithin(done, open);
    const blocks = this.#within ? [] : [...done];
    if (open) blocks.push(blockOf(open));
    const end = blocks.at(-1);
    // A code fence is closed by its mark or by the end of the text.
    if (end && (end.kind !== "code" || settled)) blocks[blocks.length - 1] = { ...end, open: !settled };
    const known = settled ? blocks.reduce(withDefinition, this.#definitions) : this.#definitions;
    return { groups: [...this.#full, [...this.#group, ...blocks]], definitions: known };
  }

  /** A line longer than a piece is not read from its beginning again. */
  #takeWithin(done: readonly Block[], open: Open): void {
    if (!this.#within) this.#keep(done);
    this.#taken = this.#text.length - open.tail.length;
    this.#open = { ...open, tail: "" };
    this.#within = true;
  }
}

/** Return the blocks of a finished text. */
export const blocksOf = (text: string): readonly Block[] => new BlockReader().read(text, true).groups.flat();

export const labelOf = (label: string): string => label.trim().replaceAll(/\s+/g, " ").toLowerCase();

function withDefinition(known: ReadonlyMap<string, string>, { kind, pieces }: Block): ReadonlyMap<string, string> {
  if (kind !== "definition" && kind !== "note") return known;
  const line = pieces[0] ?? "";
  const label = DEFINITION.exec(line)?.[1] ?? "";
  if (!label || known.has(labelOf(label))) return known;
  // A footnote is shown where it is written. References only need to know that it exists.
  return new Map(known).set(labelOf(label), kind === "note" ? `[${label}]: .` : line);
}

function advance(open: Open | undefined, line: string, within: boolean): Step {
  if (open && within) return { done: [], open: grown(open, open.tail + line) };
  if (open?.kind === "code") return advanceCode(open, line);
  if (open?.kind === "math") {
    if (line.trimEnd().endsWith(open.mark)) return { done: [blockOf(joined(open, line), false)], open: undefined };
    // A formula contains no blank line, so this is text.
    return line.trim() ? { done: [], open: joined(open, line) } : advance({ ...open, kind: "text" }, line, false);
  }
  if (!line.trim()) return advanceBlank(open, line);
  return starts(open, line) ?? goesOn(open, line);
}

function advanceCode(open: Open, line: string): Step {
  const mark = FENCE_ENDS.exec(line)?.[1];
  if (mark?.startsWith(open.mark)) return { done: [blockOf(open, false)], open: undefined };
  const text = line.slice(Math.min(open.indent, line.length - line.trimStart().length));
  const full = open.tail.length >= PIECE;
  const sealed = full ? [...open.sealed, open.tail] : open.sealed;
  return { done: [], open: { ...open, sealed, tail: `${full ? "" : open.tail}${text}\n` } };
}

function advanceBlank(open: Open | undefined, line: string): Step {
  if (!open) return { done: [], open };
  const mayGoOn = open.kind === "list" || open.kind === "note" || INDENTED.test(open.sealed[0] ?? open.tail);
  return mayGoOn ? { done: [], open: { ...joined(open, line), blank: true } } : finish(open);
}

/** Handle lines that end any block before them. */
function starts(open: Open | undefined, line: string): Step | undefined {
  const holds = open?.kind === "list" || open?.kind === "note";
  const fence = FENCE.exec(line);
  if (fence && !(holds && fence[1])) {
    const [, indent = "", mark = "", language = ""] = fence;
    return finish(open, { ...fresh("code", ""), indent: indent.length, mark, language });
  }
  const heading = HEADING.exec(line);
  if (heading && !(holds && heading[1]))
    return finishWith(open, { kind: "text", pieces: [line], language: "", open: false });
  if (holds) return undefined;
  const [, mark = "", rest = ""] = MATH.exec(line) ?? [];
  const ending = mark === "\\[" ? "\\]" : mark;
  const at = mark ? rest.indexOf(ending) : -1;
  if (mark && at < 0) return finish(open, { ...fresh("math", line), mark: ending });
  if (at > 0 && rest.slice(at).trimEnd() === ending)
    return finishWith(open, { kind: "math", pieces: [line], language: "", open: false });
  return undefined;
}

function goesOn(open: Open | undefined, line: string): Step {
  if (!open) return { done: [], open: begin(line) };
  const item = RULE.test(line) ? null : ITEM.exec(line);
  if (open.kind === "list") return inList(open, line, item);
  if (open.kind === "note") {
    const ends = DEFINITION.test(line) || (open.blank && !/^\s/.test(line));
    return ends ? finish(open, begin(line)) : { done: [], open: joined(open, line) };
  }
  if (open.kind === "definition")
    return /^\s/.test(line) ? { done: [], open: joined(open, line) } : finish(open, begin(line));
  if (open.blank && !INDENTED.test(line)) return finish(open, begin(line));
  if (item && INTERRUPTS.test(line)) return finish(open, begin(line));
  if (open.kind === "table") {
    if (/^ {0,3}>/.test(line)) return finish(open, begin(line));
    return { done: [], open: open.tail.length >= PIECE ? sealedBefore(open, line) : joined(open, line) };
  }
  if (open.lines === 1 && isTableHead(open.tail, line))
    return { done: [], open: { ...joined(open, line), kind: "table" } };
  return { done: [], open: grown(open, `${open.tail}\n${line}`) };
}

function inList(open: Open, line: string, item: RegExpExecArray | null): Step {
  const [, indent = "", marker = ""] = item ?? [];
  if (item && indent.length <= open.indent) {
    if (marker.at(-1) !== open.mark) return finish(open, begin(line));
    return { done: [], open: open.tail.length >= PIECE ? sealedBefore(open, line) : joined(open, line) };
  }
  const ends = RULE.test(line) || (open.blank && !/^\s/.test(line));
  return ends ? finish(open, begin(line)) : { done: [], open: joined(open, line) };
}

function begin(line: string): Open {
  if (RULE.test(line)) return fresh("text", line);
  const [, indent = "", marker] = ITEM.exec(line) ?? [];
  if (marker) return { ...fresh("list", line), indent: indent.length, mark: marker.at(-1) ?? "" };
  const label = DEFINITION.exec(line)?.[1];
  if (label) return fresh(label.startsWith("^") ? "note" : "definition", line);
  return grown(fresh("text", ""), line);
}

/** Split a paragraph into pieces, between marks. */
function grown(open: Open, text: string): Open {
  let [sealed, tail] = [open.sealed, text];
  if (PLAIN.test(sealed[0] ?? tail)) {
    for (let at = paragraphCut(tail); at > 0; at = paragraphCut(tail)) {
      sealed = [...sealed, tail.slice(0, at)];
      tail = tail.slice(at + 1);
    }
  }
  return { ...open, sealed, tail, blank: false, lines: open.tail ? open.lines + 1 : open.lines };
}

function isTableHead(head: string, line: string): boolean {
  if (!head.includes("|") || !DELIMITERS.test(line)) return false;
  return cells(head) === cells(line);
}

export const cells = (row: string): number =>
  row
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/).length;

const fresh = (kind: BlockKind, tail: string): Open => ({
  ...{ kind, tail, sealed: [], language: "", indent: 0, mark: "", blank: false, lines: 1 },
});

const joined = (open: Open, line: string): Open => ({
  ...open,
  tail: `${open.tail}\n${line}`,
  blank: false,
  lines: open.lines + 1,
});

const sealedBefore = (open: Open, line: string): Open => ({
  ...open,
  sealed: [...open.sealed, open.tail],
  tail: line,
  blank: false,
});

const blockOf = ({ kind, sealed, tail, language }: Open, open = true): Block => ({
  kind,
  pieces: [...sealed, kind === "code" ? tail : tail.trimEnd()],
  language,
  open,
});

const finish = (open: Open | undefined, next?: Open): Step => ({
  done: open ? [blockOf(open, false)] : [],
  open: next,
});

const finishWith = (open: Open | undefined, block: Block): Step => ({
  done: [...finish(open).done, block],
  open: undefined,
});
