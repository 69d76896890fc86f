// Formats rows as CSV (RFC 4180).

/** Prefix cells that a spreadsheet would evaluate as formulas. */
const cell = (text: string): string => {
  const harmless = /^[=+@\t\r]|^-(?![\d.]+%?$)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(cell).join(",")).join("\r\n");
