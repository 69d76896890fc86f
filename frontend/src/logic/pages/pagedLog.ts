// A list that is refreshed at its beginning and extended at its end.

export interface Page<Item> {
  /** Newest first. */
  items: readonly Item[];
  /** The cursor of older items. Undefined on the last page. */
  next: string | undefined;
}

/** Limits the list of a page that stays open for days. */
const MOST_SHOWN = 1000;

/** Merge fresh items with older ones that were loaded before. */
export function joinPages<Item>(fresh: Page<Item>, known: Page<Item>, idOf: (item: Item) => string): Page<Item> {
  if (fresh.items.length === 0 || fresh.next === undefined) return fresh;
  const ids = new Set(fresh.items.map(idOf));
  const meets = known.items.findLastIndex((item) => ids.has(idOf(item)));
  const older = known.items.slice(meets + 1);
  // If the lists do not overlap, items are missing in between.
  return meets < 0 || older.length === 0 || fresh.items.length + older.length > MOST_SHOWN
    ? fresh
    : { items: [...fresh.items, ...older], next: known.next };
}
