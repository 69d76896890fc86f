// Copies or downloads a table as CSV: every row that the filter leaves, in the order shown.
import type { Row } from "../../logic/table/dataTable.ts";
import { tableCsv } from "../../logic/table/tableCsv.ts";
import { saveFile } from "../../state/download.ts";
import type { Column } from "../../types/dataTable.ts";
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";

interface Props {
  caption: string;
  columns: readonly Column[];
  rows: readonly Row[];
}

export function CsvButtons({ caption, columns, rows }: Props) {
  const csv = () => tableCsv(columns, rows);
  return (
    <div className="-ms-2 flex">
      <Copy text={csv}>Copy as CSV</Copy>
      <Button onClick={() => saveFile(`${caption}.csv`, "text/csv", csv())}>Download as CSV</Button>
    </div>
  );
}
