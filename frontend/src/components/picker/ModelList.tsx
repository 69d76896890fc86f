// The list of models behind the picker's button: a field to search it, filters, and rows that keys and clicks choose.
import { Search } from "lucide-react";
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Filter, freeId, isListed, sectionsOf } from "../../run/models/modelSearch.ts";
import { drawnOf, drawnTo, isMeant, movedBy, offeredId, withFree } from "../../run/models/pickerRows.ts";
import { plural } from "../../run/wording/statusAndAmounts.ts";
import type { Model } from "../../types/api.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { FilterChips } from "./FilterChips.tsx";
import { useOpensAt } from "./initialScroll.ts";
import { FreeRow, ModelRow } from "./ModelRow.tsx";
import { StarButton } from "./StarButton.tsx";

interface Props {
  models: readonly Model[];
  /** The models that are marked as chosen. */
  chosen: readonly string[];
  /** The model at which the list opens; empty: at its beginning. */
  current: string;
  recent: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  simulated: boolean;
  label: string;
  field: RefObject<HTMLInputElement | null>;
  /** An id, or nothing to leave all as it is. */
  onChoose: (id: string | undefined) => void;
}

const NEAR_END_PX = 300;

export function ModelList({ models, chosen, current, recent, starred, onStar, simulated, label, ...rest }: Props) {
  const { field, onChoose } = rest;
  const [query, setQuery] = useState("");
  const [filters, setFilters] = useState<ReadonlySet<Filter>>(new Set());
  const [asked, setAsked] = useState(0);
  const [picked, setPicked] = useState<number>();
  const scrolls = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const list = useId();

  // The order stays while the list is open: a row that is starred does not run away from under the pointer.
  const [order] = useState({ starred, recent });
  const sections = useMemo(() => sectionsOf(models, { query, filters, ...order }), [models, query, filters, order]);
  const found = useMemo(() => sections.flatMap((section) => section.models), [sections]);
  const free = offeredId(freeId(models, query), found);
  const freeFirst = free !== undefined && isMeant(free, found);
  const ids = useMemo(() => withFree(found, free, freeFirst), [found, free, freeFirst]);
  const first = query.trim() ? 0 : ids.indexOf(current);
  const limit = Math.max(asked, drawnTo(first));
  const active = Math.min(picked ?? first, ids.length - 1);
  const activeId = ids[active];
  const shift = freeFirst ? 1 : 0;

  useOpensAt(box, `${list}-${first}`, `${query} ${[...filters].join()}`);
  useLayoutEffect(() => {
    if (!scrolls.current) return;
    scrolls.current = false;
    document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active, list]);

  const search = (text: string) => {
    setQuery(text);
    setPicked(undefined);
    setAsked(0);
  };
  const filter = (chosen: ReadonlySet<Filter>) => {
    setFilters(chosen);
    setPicked(undefined);
    setAsked(0);
  };
  const move = (next: number) => {
    scrolls.current = true;
    setPicked(next);
    setAsked(Math.max(limit, drawnTo(next)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const stars = event.key.toLowerCase() === "d" && (event.ctrlKey || event.metaKey);
    const next = movedBy(event.key, active, ids.length);
    if (stars) activeId !== undefined && onStar(activeId);
    else if (event.key === "Enter") onChoose(activeId);
    else if (next !== undefined) move(next);
    else return;
    event.preventDefault();
  };
  const onPointerMove = (event: PointerEvent) => {
    const index = indexAt(event.target);
    if (index !== undefined && index !== active) setPicked(index);
  };

  const rows = drawnOf(sections, limit - shift, shift);
  const freeIndex = freeFirst ? 0 : ids.length - 1;
  const freeRow = free !== undefined && freeIndex < limit && (
    <FreeRow id={`${list}-${freeIndex}`} index={freeIndex} model={free} active={active === freeIndex} />
  );
  return (
    <>
      <div className="relative border-edge border-b">
        <Search aria-hidden="true" className="pointer-events-none absolute top-3.5 start-3 size-4 text-dim" />
        <input
          ref={field}
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={activeId === undefined || active >= limit ? undefined : `${list}-${active}`}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          placeholder="Search or enter a model ID"
          value={query}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
          className="h-11 w-full rounded-t-md bg-transparent pe-3 ps-9 text-body placeholder:text-dim focus-visible:-outline-offset-2"
        />
      </div>
      <FilterChips chosen={filters} onChange={filter} />
      {simulated && (
        <p
          className="flex items-center gap-2 border-edge border-b bg-accent-wash px-3 py-1.5 text-small"
          data-part="simulated-note"
        >
          <Lamp lamp="blue" /> No API key is set, so a built-in simulator answers in place of each model.
        </p>
      )}
      {current && !isListed(models, current) && (
        <p
          className="border-edge border-b bg-amber-wash px-3 py-1.5 text-small wrap-anywhere"
          data-part="unlisted-note"
        >
          {current} is not in the model list and may no longer be available. Choose another model.
        </p>
      )}
      {/* The focus stays in the field: a press on the list must not take it. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field. */}
      <div
        ref={box}
        id={list}
        role="listbox"
        aria-label="Models"
        tabIndex={-1}
        data-part="models"
        className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain p-1 outline-none"
        onPointerDown={(event) => event.preventDefault()}
        onPointerMove={onPointerMove}
        onClick={(event) => {
          const index = indexAt(event.target);
          const id = index === undefined ? undefined : ids[index];
          if (id === undefined) return;
          if ((event.target as Element).closest("[data-part='star']")) onStar(id);
          else onChoose(id);
        }}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          if (limit < ids.length && scrollHeight - scrollTop - clientHeight < NEAR_END_PX) setAsked(drawnTo(limit));
        }}
      >
        {freeFirst && freeRow}
        {rows.map(({ title, from, models: some }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list box.
          <div key={title} role="group" aria-label={title || "Results"}>
            {title && (
              <p aria-hidden="true" className="sticky -top-1 z-10 bg-raised px-2 pt-2 pb-1 text-dim text-tiny">
                {title}
              </p>
            )}
            {some.map((model, index) => (
              <ModelRow
                key={model.id}
                id={`${list}-${from + index}`}
                index={from + index}
                count={ids.length}
                model={model}
                active={from + index === active}
                selected={chosen.includes(model.id)}
                starred={starred.includes(model.id)}
              />
            ))}
          </div>
        ))}
        {!freeFirst && freeRow}
      </div>
      <div className="flex h-10 items-center gap-3 border-edge border-t px-3 text-dim text-tiny">
        <span role="status">{found.length === 0 ? "No models found." : plural(found.length, "model")}</span>
        {found.length > 0 && (
          <span className="truncate narrow:hidden">Context · $ per million tokens, input · output</span>
        )}
        <span className="flex-1" />
        {activeId !== undefined && (
          <StarButton
            model={models.find(({ id }) => id === activeId)}
            id={activeId}
            starred={starred}
            onStar={onStar}
          />
        )}
      </div>
    </>
  );
}

const indexAt = (target: EventTarget): number | undefined => {
  const index = (target as Element).closest<HTMLElement>("[role='option']")?.dataset.index;
  return index === undefined ? undefined : Number(index);
};
