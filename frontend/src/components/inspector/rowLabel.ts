// The label of a row in the timeline. Calls use the title of their tool.
import type { Row } from "../../logic/inspector/waterfall.ts";
import { useToolTitle } from "../ui/Tools.tsx";

export function useRowLabel(): (row: Row) => string {
  const titleOf = useToolTitle();
  return ({ subject, label }) => (subject.kind === "call" ? titleOf(subject.item.name) : label);
}
