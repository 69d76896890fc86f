// The texts of a table's cells, in the language of the browser.
import type {
  BooleanFormat,
  CurrencyFormat,
  DateFormat,
  DeltaFormat,
  NumberFormat,
  PercentFormat,
} from "../../types/dataTable.ts";

const DAY_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Making a formatter takes far longer than formatting, so each is made once. */
function kept<Options, Formatter>(make: (options: Options) => Formatter): (options: Options) => Formatter {
  const made = new Map<string, Formatter>();
  return (options) => {
    const key = JSON.stringify(options);
    const formatter = made.get(key) ?? make(options);
    made.set(key, formatter);
    return formatter;
  };
}

const numbers = kept((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(undefined, options));
const dates = kept((options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, options));

const written = (value: number, options: Intl.NumberFormatOptions): string => numbers(options).format(value);

const digits = (decimals: number | undefined): Intl.NumberFormatOptions =>
  decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };

const signed = (isShown: boolean | undefined): Intl.NumberFormatOptions =>
  isShown ? { signDisplay: "exceptZero" } : {};

export function numberText(value: number, { decimals, unit, compact, showSign }: NumberFormat): string {
  const number = written(value, {
    ...digits(decimals),
    ...signed(showSign),
    ...(compact && { notation: "compact" }),
  });
  return unit ? `${number} ${unit}` : number;
}

export const currencyText = (value: number, { currency, decimals }: CurrencyFormat): string =>
  written(value, { style: "currency", currency, ...digits(decimals) });

export const percentText = (value: number, { basis, decimals, showSign }: PercentFormat): string =>
  written(basis === "unit" ? value / 100 : value, {
    style: "percent",
    maximumFractionDigits: 2,
    ...digits(decimals),
    ...signed(showSign),
  });

export const deltaText = (value: number, { decimals, showSign = true }: DeltaFormat): string =>
  written(value, { ...digits(decimals), ...signed(showSign) });

/** Whether a change is good, bad, or neither. */
export function deltaTone(value: number, { upIsPositive = true }: DeltaFormat): "success" | "danger" | "neutral" {
  if (value === 0) return "neutral";
  return value > 0 === upIsPositive ? "success" : "danger";
}

/** A date without a time is a day everywhere, so it is not moved to the browser's time zone. */
export function dateText(value: string, { dateFormat = "short" }: DateFormat, now = Date.now()): string {
  const time = Date.parse(value);
  if (Number.isNaN(time)) return value;
  if (dateFormat === "relative") return relativeText((time - now) / 1000);
  const isDay = DAY_ONLY.test(value);
  return dates({
    dateStyle: dateFormat === "long" ? "long" : "medium",
    ...(isDay ? { timeZone: "UTC" } : { timeStyle: "short" }),
  }).format(time);
}

function relativeText(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (["second", 1] as const);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export const booleanText = (value: boolean, { labels }: BooleanFormat): string =>
  value ? (labels?.true ?? "Yes") : (labels?.false ?? "No");
