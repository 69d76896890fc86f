// Resolves references between files.

/** A reference without its query and fragment, decoded. Undefined if it does not name a file. */
export function pathOf(reference: string, from: string): string | undefined {
  if (!isRelative(reference)) return undefined;
  const [bare = ""] = reference.split(/[?#]/, 1);
  if (bare === "") return undefined;
  const parts = bare.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of decoded(bare).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Whether a reference has no scheme and no host. */
export const isRelative = (reference: string): boolean =>
  reference !== "" && !/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(reference.trim());

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
