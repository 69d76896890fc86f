// Finds the search term in a line of the sidebar.

export interface SearchMatch {
  before: string;
  found: string;
  after: string;
}

/** The first match, ignoring case. No match if lower-casing changes the length of the text, as for İ. */
export function findMatch(text: string, wanted: string): SearchMatch {
  const letters = wanted.trim().toLowerCase();
  const lower = text.toLowerCase();
  const at = letters && lower.length === text.length ? lower.indexOf(letters) : -1;
  if (at < 0) return { before: text, found: "", after: "" };
  const end = at + letters.length;
  return { before: text.slice(0, at), found: text.slice(at, end), after: text.slice(end) };
}
