// Rows as comma-separated values (RFC 4180).

/** A cell that a spreadsheet would run is kept a text. */
const cell = (text: string): string => {
  const harmless = /^[=+@\t\r]|^-(?![\d.]+%?$)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(cell).join(",")).join("\r\n");
