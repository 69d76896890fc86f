// Finds and focuses lines of the sidebar by their data attributes.

export const lineOf = (target: EventTarget | null): string | undefined =>
  target instanceof Element ? (target.closest<HTMLElement>("[data-line]")?.dataset.line ?? undefined) : undefined;

/** Return the line's link, or undefined if it is not rendered. */
export const linkOf = (list: Element | null, id: string): HTMLElement | undefined =>
  [...(list?.querySelectorAll<HTMLElement>("[data-line]") ?? [])]
    .find((line) => line.dataset.line === id)
    ?.querySelector("a") ?? undefined;

/** Move the focus from the search field to the list. Returns whether there is a line. */
export function focusFirstLine(field: Element): boolean {
  const link = field.closest("[data-part=sidebar]")?.querySelector<HTMLElement>("[data-line] a");
  link?.focus();
  return link !== undefined && link !== null;
}

export function focusSearch(list: Element): void {
  list.closest("[data-part=sidebar]")?.querySelector("input")?.focus();
}
