// What a variant does or has done, in a few words for its tab.
import type { RunTrace } from "../../types/models.ts";
import { fileWrites } from "../files/fileWrites.ts";
import { endingOf, plural } from "../wording/statusAndAmounts.ts";
import { fileSentence } from "./fileSentence.ts";
import { type Stop, stopsOf } from "./stops.ts";

export function variantStatus(trace: RunTrace): string {
  if (!trace.end) return doing(stopsOf(trace).at(-1));
  const { lamp, label } = endingOf(trace.end);
  const paths = new Set(fileWrites(trace).flatMap(({ path, version }) => (version === undefined ? [] : [path])));
  const files = paths.size > 0 ? plural(paths.size, "file") : "";
  return lamp === "done" || lamp === "blue" ? files : [label, files].filter(Boolean).join(" · ");
}

function doing(stop: Stop | undefined): string {
  switch (stop?.kind) {
    case undefined:
      return "";
    case "file": {
      const { title, size } = fileSentence(stop.call);
      return [title, size].filter(Boolean).join(" · ");
    }
    case "pending":
      return stop.label;
    case "reasoning":
      return "Thinking";
    case "search":
      return "Searching";
    case "tools":
      return "Using tools";
    case "answer":
      return "Answering";
  }
}
