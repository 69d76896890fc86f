// The widths of the columns of a large table. They follow from the data, not from the rows that happen to be rendered,
// so that no column changes its width while the table scrolls.
import type { Column } from "../../types/dataTable.ts";
import { cellText } from "./cellText.ts";
import { cellOf, type Row } from "./dataTable.ts";

/** All widths are in em of the table. */
export interface ColumnTracks {
  /** For `grid-template-columns`. */
  tracks: string;
  /** The width at which the table scrolls sideways instead of becoming narrower. */
  minimum: string;
}

const SAMPLES = 100;
const LETTER_EM = 0.54;
const PADDING_EM = 1.25;
/** The arrow of a heading. */
const ARROW_EM = 1.5;
/** The icon of a cell, and the border of a badge. */
const SIGN_EM = 2;
const IMAGE_EM = 6.5;
const MOST_EM = 24;
/** Text wraps at this width. */
const WRAP_EM = 11;
/** Formats whose text must not wrap. */
const UNBROKEN: ReadonlySet<string | undefined> = new Set([
  ...["number", "currency", "percent", "delta", "boolean", "status", "date"],
]);
/** Formats whose text is alone in its cell. */
const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, "text", "number", "currency", "percent", "date"]);
const LENGTH = /^\d+(?:\.\d+)?(?:px|r?em|ch)$/;

export function columnTracks(columns: readonly Column[], rows: readonly Row[]): ColumnTracks {
  const step = Math.max(1, Math.floor(rows.length / SAMPLES));
  const samples = rows.filter((_, index) => index % step === 0);
  const widths = columns.map((column) => widthOf(column, samples));
  return {
    tracks: widths.map(({ least, share }) => (share ? `minmax(${least}, ${share}fr)` : least)).join(" "),
    minimum: `calc(${widths.map(({ least }) => least).join(" + ")})`,
  };
}

interface Width {
  least: string;
  /** The column's share of the remaining width. Columns without one keep their width. */
  share?: number;
}

function widthOf({ key, label, abbr, width, format }: Column, rows: readonly Row[]): Width {
  if (width !== undefined && LENGTH.test(width)) return { least: width };
  const heading = lengthOf(abbr ?? label) * LETTER_EM + ARROW_EM;
  if (format?.kind === "image") return { least: em(Math.max(heading, IMAGE_EM)) };
  const longest = Math.max(...rows.map((row) => lengthOf(cellText(cellOf(row, key), format))));
  const value = longest * LETTER_EM + (PLAIN.has(format?.kind) ? 0 : SIGN_EM);
  const whole = Math.min(Math.max(heading, value), MOST_EM);
  const least = UNBROKEN.has(format?.kind) ? whole : Math.min(whole, Math.max(heading, WRAP_EM));
  return { least: em(least), share: rounded(whole) };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
const em = (width: number): string => `${rounded(width + PADDING_EM)}em`;

/** Letters of East Asian scripts are two letters wide. */
const lengthOf = (text: string): number => text.length + (text.match(/[\u1100-\uffef]/g)?.length ?? 0);
