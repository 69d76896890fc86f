// Two to four answers to one message: columns in a row. They are tabs on a phone, and if they write files, because the
// panel with files takes the width of the columns.
import { NARROW, useMediaQuery } from "../../hooks/mediaQuery.ts";
import { useWritesFiles } from "../../hooks/variantFiles.ts";
import type { AnswerPart } from "../../state/chat/chatParts.ts";
import type { Model } from "../../types/api.ts";
import { ColumnRow } from "./ColumnRow.tsx";
import { ColumnTabs } from "./ColumnTabs.tsx";
import { type ComparedProps, columnsOf } from "./columns.ts";

interface Props extends ComparedProps {
  models: readonly Model[];
  /** In the order in which the models were chosen. */
  parts: readonly AnswerPart[];
}

export default function CompareColumns({ models, parts, ...compared }: Props) {
  const isPhone = useMediaQuery(NARROW);
  const hasFiles = useWritesFiles(parts);
  const columns = columnsOf(parts, models);
  return isPhone || hasFiles ? (
    <ColumnTabs columns={columns} hasFiles={hasFiles} {...compared} />
  ) : (
    <ColumnRow columns={columns} {...compared} />
  );
}
