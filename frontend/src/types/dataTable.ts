// Generated from the contract (backend/signalbox/core/data_table.py) by `just contract`. Do not edit.
// biome-ignore-all format: generated
// biome-ignore-all lint: generated

/**
 * Version 1 of Signalbox's DataTable. Unknown fields are growth.
 */
export interface DataTable {
  surfaceId: string;
  columns: Column[];
  data: {
    [k: string]: string | number | boolean | (string | number | boolean | null)[] | null;
  }[];
  caption?: string;
  error?: string;
}
/**
 * One column: `key` is the field of each row, `label` the heading, `abbr` a shorter heading. A column without `format` has text. `priority` decides what cards show first on a narrow screen.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "Column".
 */
export interface Column {
  key: string;
  label: string;
  format?:
    | TextFormat
    | NumberFormat
    | CurrencyFormat
    | PercentFormat
    | DateFormat
    | DeltaFormat
    | StatusFormat
    | BooleanFormat
    | LinkFormat
    | BadgeFormat
    | ArrayFormat
    | ImageFormat;
  abbr?: string;
  sortable?: boolean;
  align?: "center" | "left" | "right";
  width?: string;
  truncate?: boolean;
  priority?: "primary" | "secondary" | "tertiary";
  hideOnMobile?: boolean;
}
/**
 * Text, as it is.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "TextFormat".
 */
export interface TextFormat {
  kind: "text";
}
/**
 * A number. `compact`: 1,200,000 is shown as 1.2M. `showSign`: a plus before positive numbers.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "NumberFormat".
 */
export interface NumberFormat {
  kind: "number";
  decimals?: number;
  unit?: string;
  compact?: boolean;
  showSign?: boolean;
}
/**
 * An amount in the unit of the currency, an ISO 4217 code: 12.5 with USD is $12.50.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "CurrencyFormat".
 */
export interface CurrencyFormat {
  kind: "currency";
  currency: string;
  decimals?: number;
}
/**
 * A share. `basis`: `fraction` (the default) shows 0.25 as 25%, `unit` shows 25 as 25%.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "PercentFormat".
 */
export interface PercentFormat {
  kind: "percent";
  decimals?: number;
  showSign?: boolean;
  basis?: "fraction" | "unit";
}
/**
 * A date or a time in ISO 8601.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "DateFormat".
 */
export interface DateFormat {
  kind: "date";
  dateFormat?: "long" | "relative" | "short";
}
/**
 * A change, as a number. `upIsPositive` is true by default; false shows a rise as bad.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "DeltaFormat".
 */
export interface DeltaFormat {
  kind: "delta";
  decimals?: number;
  upIsPositive?: boolean;
  showSign?: boolean;
}
/**
 * A status; one that `statusMap` does not list is neutral.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "StatusFormat".
 */
export interface StatusFormat {
  kind: "status";
  statusMap: {
    [k: string]: unknown;
  };
}
/**
 * True or false.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "BooleanFormat".
 */
export interface BooleanFormat {
  kind: "boolean";
  labels?: BooleanLabels;
}
/**
 * The words for true and false.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "BooleanLabels".
 */
export interface BooleanLabels {
  true: string;
  false: string;
}
/**
 * A link. `hrefKey` names the field of the row that has the address; without it, the cell is the address.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "LinkFormat".
 */
export interface LinkFormat {
  kind: "link";
  hrefKey?: string;
  external?: boolean;
}
/**
 * A short text in a badge; `colorMap` gives its tone.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "BadgeFormat".
 */
export interface BadgeFormat {
  kind: "badge";
  colorMap?: {
    [k: string]: unknown;
  };
}
/**
 * A list of short values.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "ArrayFormat".
 */
export interface ArrayFormat {
  kind: "array";
  maxVisible?: number;
}
/**
 * An image, by its address at its source. `altKey` names the field that describes the image.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "ImageFormat".
 */
export interface ImageFormat {
  kind: "image";
  width?: number;
  height?: number;
  altKey?: string;
}
/**
 * A table. `surfaceId` is unique; `data` has one object for each row, which may have fields without a column. `error` says why there are no rows, or not all.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "DataTable".
 */
export interface DataTable1 {
  surfaceId: string;
  columns: Column[];
  data: {
    [k: string]: string | number | boolean | (string | number | boolean | null)[] | null;
  }[];
  caption?: string;
  error?: string;
}
/**
 * How one status is shown; without `label`, the status itself is the label.
 *
 * This interface was referenced by `DataTable`'s JSON-Schema
 * via the `definition` "Status".
 */
export interface Status {
  tone: "danger" | "info" | "neutral" | "success" | "warning";
  label?: string;
}
