// What a row of the waterfall is called: a call by its tool's title.
import type { Row } from "../../run/inspector/waterfall.ts";
import { useToolTitle } from "../ui/ToolTitles.tsx";

export function useRowLabel(): (row: Row) => string {
  const titleOf = useToolTitle();
  return ({ subject, label }) => (subject.kind === "call" ? titleOf(subject.item.name) : label);
}
