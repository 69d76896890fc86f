// What a call does to a file, as a sentence that is updated while the model writes the call.
import type { CallItem, CallPreview } from "../../types/models.ts";
import { isOpen } from "../trace/items.ts";
import { plural } from "../wording/statusAndAmounts.ts";

export interface FileSentence {
  /** "Creating index.html" */
  title: string;
  /** The size so far, the lines of a new file, or the changed lines of an edit. Empty if it is not known. */
  size: string;
  /** Why the call failed. */
  reason?: string;
}

interface FileArtifact {
  lines?: unknown;
  added?: unknown;
  removed?: unknown;
  is_new?: unknown;
}

const CREATE = "create_file";

export const fileSentence = (call: CallItem | CallPreview): FileSentence =>
  "kind" in call ? sentenceOfCall(call) : sentenceOfPreview(call);

function sentenceOfPreview({ name, key, texts }: CallPreview): FileSentence {
  const path = key === "/path" ? undefined : texts["/path"];
  const title = `${name === CREATE ? "Creating" : "Editing"} ${path ?? "a file"}`;
  if (name === CREATE) return { title, size: sizeText(texts["/content"]?.length ?? 0) };
  const changes = Object.keys(texts).filter((pointer) => pointer.endsWith("/new_text")).length;
  return { title, size: changes > 1 ? plural(changes, "change") : "" };
}

function sentenceOfCall(call: CallItem): FileSentence {
  const path = typeof call.arguments.path === "string" ? call.arguments.path : "a file";
  const creates = call.name === CREATE;
  if (isOpen(call)) return { title: `${creates ? "Creating" : "Editing"} ${path}`, size: "" };
  if (call.status !== "done") {
    const title = `${creates ? "Create" : "Edit"} ${path}: ${call.status === "failed" ? "failed" : "stopped"}`;
    return { title, size: "", ...(call.status === "failed" && call.error && { reason: call.error }) };
  }
  const { lines, added, removed, is_new } = { ...(call.artifact as FileArtifact | undefined) };
  if (creates) {
    const title = `${is_new === false ? "Replaced" : "Created"} ${path}`;
    return { title, size: typeof lines === "number" ? plural(lines, "line") : "" };
  }
  const isKnown = typeof added === "number" && typeof removed === "number";
  return { title: `Edited ${path}`, size: isKnown ? `+${added} −${removed}` : "" };
}

/** "4.1 kB". Characters count as bytes, which is close enough for a size that grows. */
const sizeText = (length: number): string => {
  if (length === 0) return "";
  return length < 1000 ? plural(length, "byte") : `${(length / 1000).toFixed(1)} kB`;
};
