// The state of an open model list: search, filters, matching rows, and the active row.
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Filter, freeId, sectionsOf } from "../../logic/models/modelSearch.ts";
import {
  isIdMeant,
  offeredId,
  type RenderedSection,
  renderedSections,
  rowIds,
  rowsToRender,
} from "../../logic/models/pickerRows.ts";
import type { Model } from "../../types/api.ts";

interface Listed {
  models: readonly Model[];
  /** The model that the list scrolls to when it opens. Empty: the first one. */
  current: string;
  recent: readonly string[];
  starred: readonly string[];
  /** The element id of the list, which prefixes the ids of its rows. */
  list: string;
}

export interface ListedModels {
  query: string;
  filters: ReadonlySet<Filter>;
  /** The number of matching models. */
  found: number;
  /** The ids of all rows, rendered or not. */
  ids: readonly string[];
  /** The row that the list scrolls to when it opens. */
  first: number;
  active: number;
  /** Undefined if no row is active. */
  activeId: string | undefined;
  /** The number of rendered rows. */
  limit: number;
  /** The rendered models, by section. */
  rows: readonly RenderedSection[];
  /** The typed id that is offered although it is not listed, and its row. */
  free: { id: string; index: number } | undefined;
  search: (query: string) => void;
  filter: (filters: ReadonlySet<Filter>) => void;
  /** Activate this row. */
  point: (index: number) => void;
  /** Activate this row and scroll to it. */
  move: (index: number) => void;
  renderMore: () => void;
}

export function useListedModels({ models, current, recent, starred, list }: Listed): ListedModels {
  const [query, setQuery] = useState("");
  const [filters, setFilters] = useState<ReadonlySet<Filter>>(new Set());
  const [asked, setAsked] = useState(0);
  const [picked, setPicked] = useState<number>();
  const scrolls = useRef(false);

  // The order is fixed while the list is open, so that a starred row does not move away from the pointer.
  const [order] = useState({ starred, recent });
  const sections = useMemo(() => sectionsOf(models, { query, filters, ...order }), [models, query, filters, order]);
  const found = useMemo(() => sections.flatMap((section) => section.models), [sections]);
  const free = offeredId(freeId(models, query), found);
  const freeFirst = free !== undefined && isIdMeant(free, found);
  const ids = useMemo(() => rowIds(found, free, freeFirst), [found, free, freeFirst]);
  const first = query.trim() ? 0 : ids.indexOf(current);
  const limit = Math.max(asked, rowsToRender(first));
  const active = Math.min(picked ?? first, ids.length - 1);
  const shift = freeFirst ? 1 : 0;

  useLayoutEffect(() => {
    if (!scrolls.current) return;
    scrolls.current = false;
    document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active, list]);

  const restart = () => {
    setPicked(undefined);
    setAsked(0);
  };
  return {
    query,
    filters,
    found: found.length,
    ids,
    first,
    active,
    activeId: ids[active],
    limit,
    rows: renderedSections(sections, limit - shift, shift),
    free: free === undefined ? undefined : { id: free, index: freeFirst ? 0 : ids.length - 1 },
    search: (text) => {
      setQuery(text);
      restart();
    },
    filter: (chosen) => {
      setFilters(chosen);
      restart();
    },
    point: setPicked,
    move: (next) => {
      scrolls.current = true;
      setPicked(next);
      setAsked(Math.max(limit, rowsToRender(next)));
    },
    renderMore: () => setAsked(rowsToRender(limit)),
  };
}
