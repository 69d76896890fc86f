// What the calls of a run do to files, also while the model is still writing the calls.
import type { CallItem, CallPreview, RunTrace } from "../../types/models.ts";
import { EDIT, writesFiles } from "./writesFiles.ts";

/** One replacement of an edit. */
export interface Edit {
  oldText: string;
  /** The replacement so far. */
  newText: string;
  /** How many matches are replaced. -1: all. */
  count: number;
}

/** A call that creates or edits one file. */
export interface FileWrite {
  callId: string;
  path: string;
  /** The text of a created file so far. Undefined for an edit. */
  content: string | undefined;
  /** The replacements whose old text is complete. */
  edits: readonly Edit[];
  /** The model is still writing the call. */
  isGrowing: boolean;
  /** The version that the call has stored. Undefined until it has succeeded. */
  version: number | undefined;
}

/** The writes of a run in the order of its calls, without failed ones. */
export function fileWrites({ items, previews = [] }: RunTrace): readonly FileWrite[] {
  const called = items.flatMap((item) => (item.kind === "call" ? writeOfCall(item) : []));
  return [...called, ...previews.flatMap(writeOfPreview)];
}

function writeOfCall(call: CallItem): readonly FileWrite[] {
  const { path, content } = call.arguments;
  if (!writesFiles(call.name) || typeof path !== "string" || call.status === "failed" || call.status === "cancelled")
    return [];
  const { version } = { ...(call.artifact as { version?: unknown } | undefined) };
  return [
    {
      callId: call.id,
      path,
      content: call.name === EDIT || typeof content !== "string" ? undefined : content,
      edits: call.name === EDIT ? editsOf(call.arguments) : [],
      isGrowing: false,
      version: call.status === "done" && typeof version === "number" ? version : undefined,
    },
  ];
}

function editsOf({ edits, ...flat }: Record<string, unknown>): readonly Edit[] {
  return (Array.isArray(edits) && edits.length > 0 ? edits : [flat]).flatMap((edit: unknown) => {
    const { old_text: oldText, new_text: newText, count } = { ...(edit as Record<string, unknown> | null) };
    if (typeof oldText !== "string" || typeof newText !== "string" || oldText === "") return [];
    return [{ oldText, newText, count: count === "all" ? -1 : typeof count === "number" ? count : 1 }];
  });
}

/** The path must be complete: until then the file is not known. */
function writeOfPreview({ id, name, key, texts }: CallPreview): readonly FileWrite[] {
  const path = texts["/path"];
  if (!writesFiles(name) || path === undefined || key === "/path") return [];
  return [
    {
      callId: id,
      path,
      content: name === EDIT ? undefined : (texts["/content"] ?? ""),
      edits: name === EDIT ? previewedEdits(key, texts) : [],
      isGrowing: true,
      version: undefined,
    },
  ];
}

const OLD = /^(?<place>|\/edits\/\d+)\/old_text$/;

/** An old text is complete once the next argument has begun. It is replaced as soon as its new text has begun. */
function previewedEdits(key: string, texts: CallPreview["texts"]): readonly Edit[] {
  return Object.entries(texts).flatMap(([pointer, oldText]) => {
    const place = OLD.exec(pointer)?.groups?.place;
    const newText = texts[`${place}/new_text`];
    if (place === undefined || pointer === key || newText === undefined || oldText === "") return [];
    return [{ oldText, newText, count: 1 }];
  });
}

/**
 * The text of a file after these writes of it. `stored` is its newest stored text, which contains the writes up to
 * `version`. Undefined if the file does not exist.
 */
export function textAfter(
  writes: readonly FileWrite[],
  stored: string | undefined,
  version: number,
): string | undefined {
  return writes.reduce((text, write) => {
    if (write.version !== undefined && write.version <= version) return text;
    if (write.content !== undefined) return write.content;
    return text === undefined ? undefined : write.edits.reduce(replaced, text);
  }, stored);
}

/** A text that does not match is left as it is: the server will reject the call. */
function replaced(text: string, { oldText, newText, count }: Edit): string {
  if (count === 1) {
    const at = text.indexOf(oldText);
    return at < 0 ? text : text.slice(0, at) + newText + text.slice(at + oldText.length);
  }
  return text.replaceAll(oldText, () => newText);
}

/** Where the last growing write changes the text, so that the view can follow it. */
export function growingAt(write: FileWrite, text: string): number {
  if (write.content !== undefined) return text.length;
  const last = write.edits.at(-1);
  const at = last ? text.lastIndexOf(last.newText) : -1;
  return at < 0 ? 0 : at + (last?.newText.length ?? 0);
}
