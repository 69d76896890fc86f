// The text of a cell as the page shows it.
import type { Column, Status } from "../../types/dataTable.ts";
import { type Cell, cellOf, type Format, type Row } from "./dataTable.ts";
import { booleanText, currencyText, dateText, deltaText, numberText, percentText } from "./formatCell.ts";

/** Empty for an empty cell, and for an image. */
export function cellText(cell: Cell, format: Format | undefined): string {
  if (cell === null || format?.kind === "image") return "";
  if (Array.isArray(cell)) return cell.map((value) => String(value ?? "–")).join(", ");
  if (typeof cell === "boolean") return booleanText(cell, format?.kind === "boolean" ? format : { kind: "boolean" });
  return typeof cell === "number" ? textOfNumber(cell, format) : textOfText(cell, format);
}

function textOfNumber(value: number, format: Format | undefined): string {
  switch (format?.kind) {
    case "number":
      return numberText(value, format);
    case "currency":
      return currencyText(value, format);
    case "percent":
      return percentText(value, format);
    case "delta":
      return deltaText(value, format);
    default:
      return String(value);
  }
}

function textOfText(value: string, format: Format | undefined): string {
  if (format?.kind === "date") return dateText(value, format);
  if (format?.kind !== "status") return value;
  return (format.statusMap[value] as Status | undefined)?.label ?? value;
}

/** The whole text of a cell that may be cut. */
export function titleOf({ key, truncate }: Column, row: Row): string | undefined {
  const cell: Cell = truncate ? cellOf(row, key) : null;
  return typeof cell === "string" ? cell : undefined;
}
