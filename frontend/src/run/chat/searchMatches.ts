// Sidebar: where the letters that were searched for stand in a text.

export interface Found {
  before: string;
  found: string;
  after: string;
}

/** The first place, in whichever case; nothing is found where lower case has other lengths, as in İ. */
export function findLetters(text: string, wanted: string): Found {
  const letters = wanted.trim().toLowerCase();
  const lower = text.toLowerCase();
  const at = letters && lower.length === text.length ? lower.indexOf(letters) : -1;
  if (at < 0) return { before: text, found: "", after: "" };
  const end = at + letters.length;
  return { before: text.slice(0, at), found: text.slice(at, end), after: text.slice(end) };
}
