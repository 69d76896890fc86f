// Makes anchors for headings in the same way as GitHub and the server's search.

/** Returns a function that makes the anchors of one document in order. Repeated headings get a number. */
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
