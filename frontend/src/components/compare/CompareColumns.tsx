// Two to four answers to one message: columns in a row, or tabs on a phone.
import { NARROW, useMediaQuery } from "../../hooks/mediaQuery.ts";
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
  const columns = columnsOf(parts, models);
  return isPhone ? <ColumnTabs columns={columns} {...compared} /> : <ColumnRow columns={columns} {...compared} />;
}
