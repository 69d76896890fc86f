// One cell of a DataTable, in the format of its column.
import { type Cell, cellOf, type Row } from "../../logic/table/dataTable.ts";
import {
  booleanText,
  currencyText,
  dateText,
  deltaText,
  deltaTone,
  numberText,
  percentText,
} from "../../logic/table/formatCell.ts";
import type { Column, Status } from "../../types/dataTable.ts";
import { ArrayCell } from "./ArrayCell.tsx";
import { ImageCell } from "./ImageCell.tsx";
import { LinkCell } from "./LinkCell.tsx";
import { BooleanMark, type Tone, ToneBadge, ToneText } from "./tones.tsx";

interface Props {
  column: Column;
  row: Row;
}

export function CellView({ column, row }: Props) {
  const cell = cellOf(row, column.key);
  if (cell === null || cell === "") return <Empty />;
  return column.truncate ? (
    <span className="block truncate" title={typeof cell === "string" ? cell : undefined}>
      <Value column={column} row={row} cell={cell} />
    </span>
  ) : (
    <Value column={column} row={row} cell={cell} />
  );
}

function Empty() {
  return (
    <span className="text-dim">
      <span aria-hidden="true">–</span>
      <span className="sr-only">empty</span>
    </span>
  );
}

function Value({ column: { format }, row, cell }: Props & { cell: NonNullable<Cell> }) {
  if (Array.isArray(cell))
    return <ArrayCell values={cell} most={format?.kind === "array" ? format.maxVisible : undefined} />;
  if (format?.kind === "link") return <LinkCell format={format} row={row} value={String(cell)} />;
  if (format?.kind === "image")
    return <ImageCell key={String(cell)} format={format} row={row} address={String(cell)} />;
  if (typeof cell === "boolean") return <BooleanMark value={cell} text={booleanText(cell, booleanFormat(format))} />;
  return typeof cell === "number" ? (
    <NumberValue value={cell} format={format} />
  ) : (
    <TextValue value={cell} format={format} />
  );
}

const booleanFormat = (format: Column["format"]) =>
  format?.kind === "boolean" ? format : ({ kind: "boolean" } as const);

function NumberValue({ value, format }: { value: number; format: Column["format"] }) {
  switch (format?.kind) {
    case "number":
      return numberText(value, format);
    case "currency":
      return currencyText(value, format);
    case "percent":
      return percentText(value, format);
    case "delta":
      return <ToneText tone={deltaTone(value, format)}>{deltaText(value, format)}</ToneText>;
    default:
      return String(value);
  }
}

function TextValue({ value, format }: { value: string; format: Column["format"] }) {
  switch (format?.kind) {
    case "date":
      return (
        <time dateTime={value} title={value}>
          {dateText(value, format)}
        </time>
      );
    case "status": {
      const status = format.statusMap[value] as Status | undefined;
      return <ToneBadge tone={status?.tone ?? "neutral"}>{status?.label ?? value}</ToneBadge>;
    }
    case "badge":
      return <ToneBadge tone={(format.colorMap?.[value] as Tone | undefined) ?? "neutral"}>{value}</ToneBadge>;
    default:
      return <bdi>{value}</bdi>;
  }
}
