// One cell of a DataTable, in the format of its column.
import { cellText } from "../../logic/table/cellText.ts";
import { cellOf, type Row } from "../../logic/table/dataTable.ts";
import { deltaTone } from "../../logic/table/formatCell.ts";
import type { Column, Status } from "../../types/dataTable.ts";
import { ArrayCell } from "./ArrayCell.tsx";
import { ImageCell } from "./ImageCell.tsx";
import { LinkCell } from "./LinkCell.tsx";
import { BooleanMark, type Tone, ToneBadge, ToneText } from "./tones.tsx";

interface Props {
  column: Column;
  row: Row;
}

/** Nothing for an empty cell. The class `cell-value` shows a dash in its place. */
export function CellView({ column: { key, format }, row }: Props) {
  const cell = cellOf(row, key);
  if (cell === null || cell === "" || (Array.isArray(cell) && cell.length === 0)) return null;
  if (Array.isArray(cell))
    return <ArrayCell values={cell} most={format?.kind === "array" ? format.maxVisible : undefined} />;
  const text = cellText(cell, format);
  if (format?.kind === "link") return <LinkCell format={format} row={row} value={text} />;
  if (format?.kind === "image")
    return <ImageCell key={String(cell)} format={format} row={row} address={String(cell)} />;
  if (typeof cell === "boolean") return <BooleanMark value={cell} text={text} />;
  return typeof cell === "number" ? numberView(cell, format, text) : textView(cell, format, text);
}

const numberView = (value: number, format: Column["format"], text: string) =>
  format?.kind === "delta" ? <ToneText tone={deltaTone(value, format)}>{text}</ToneText> : text;

function textView(value: string, format: Column["format"], text: string) {
  switch (format?.kind) {
    case "date":
      return (
        <time dateTime={value} title={value}>
          {text}
        </time>
      );
    case "status":
      return <ToneBadge tone={(format.statusMap[value] as Status | undefined)?.tone ?? "neutral"}>{text}</ToneBadge>;
    case "badge":
      return <ToneBadge tone={(format.colorMap?.[value] as Tone | undefined) ?? "neutral"}>{text}</ToneBadge>;
    default:
      return <bdi>{text}</bdi>;
  }
}
