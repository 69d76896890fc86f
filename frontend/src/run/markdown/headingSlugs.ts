// Anchors of headings, as GitHub and the server's search make them.

/** Returns a function that names the headings of one document, in order: repeated ones are numbered. */
export function slugger(): (heading: string) => string {
  const taken = new Set<string>();
  return (heading) => {
    const base = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-");
    let name = base;
    for (let number = 1; taken.has(name); number++) name = `${base}-${number}`;
    taken.add(name);
    return name;
  };
}
