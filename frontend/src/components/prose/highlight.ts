// Asks the worker for the colours of settled code; without it, or for what it does not know, code stays plain.
import { useEffect, useState } from "react";
import { type Language, languageOf } from "./languages.ts";

export type Colour = "comment" | "keyword" | "string" | "number" | "name" | "type" | "added" | "removed";
/** Words and their colour; those without one are the text's own. */
export type Line = readonly (readonly [Colour | "", string])[];

export interface Question {
  id: number;
  language: Language;
  code: string;
}

export interface Answer {
  id: number;
  /** Absent: the worker could not do it. */
  lines?: readonly Line[];
}

/** Longer code stays plain: each coloured word is an element. */
const LONGEST = 60_000;
const KEPT = 200;

let worker: Worker | undefined;
let asked = 0;
const waiting = new Map<number, (answer: Answer) => void>();
/** An answer that scrolls out of sight and back does not wait again. */
const known = new Map<string, readonly Line[]>();

function startWorker(): Worker {
  const started = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  return started;
}

function ask(language: Language, code: string, take: (lines: readonly Line[]) => void): () => void {
  worker ??= startWorker();
  const id = ++asked;
  waiting.set(id, ({ lines }) => {
    if (!lines) return;
    known.set(keyOf(language, code), lines);
    if (known.size > KEPT) known.delete(known.keys().next().value ?? "");
    take(lines);
  });
  worker.postMessage({ id, language, code } satisfies Question);
  return () => void waiting.delete(id);
}

const keyOf = (language: Language, code: string): string => `${language}\n${code}`;

/** The lines with their colours once they are known. */
export function useHighlight(pieces: readonly string[], words: string, settled: boolean): readonly Line[] | undefined {
  const language = settled ? languageOf(words) : undefined;
  const code = language ? pieces.join("") : "";
  const key = language && code && code.length <= LONGEST ? keyOf(language, code) : "";
  const [coloured, setColoured] = useState<{ key: string; lines: readonly Line[] }>();
  useEffect(() => {
    if (!key || !language || known.has(key) || typeof Worker === "undefined") return;
    return ask(language, code, (lines) => setColoured({ key, lines }));
  }, [key, language, code]);
  if (!key) return undefined;
  return coloured?.key === key ? coloured.lines : known.get(key);
}
