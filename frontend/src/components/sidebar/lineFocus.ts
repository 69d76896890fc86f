// Which line of the sidebar has the focus, found by the lines' own marks.

export const lineOf = (target: EventTarget | null): string | undefined =>
  target instanceof Element ? (target.closest<HTMLElement>("[data-line]")?.dataset.line ?? undefined) : undefined;

/** Its link; undefined while it is not drawn. */
export const linkOf = (list: Element | null, id: string): HTMLElement | undefined =>
  [...(list?.querySelectorAll<HTMLElement>("[data-line]") ?? [])]
    .find((line) => line.dataset.line === id)
    ?.querySelector("a") ?? undefined;

/** From the search field into the list below it. */
export function focusFirstLine(field: Element): boolean {
  const link = field.closest("[data-part=sidebar]")?.querySelector<HTMLElement>("[data-line] a");
  link?.focus();
  return link !== undefined && link !== null;
}

export function focusSearch(list: Element): void {
  list.closest("[data-part=sidebar]")?.querySelector("input")?.focus();
}
