// The rows of the model list by section. The pointer activates, chooses and stars them.
import { type PointerEvent, useRef } from "react";
import { useInitialScroll } from "./initialScroll.ts";
import type { ListedModels } from "./listedModels.ts";
import { FreeRow, ModelRow } from "./ModelRow.tsx";

interface Props {
  /** The element id of the list. */
  list: string;
  listed: ListedModels;
  chosen: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  onChoose: (id: string) => void;
}

const NEAR_END_PX = 300;

export function ModelRows({ list, listed, chosen, starred, onStar, onChoose }: Props) {
  const { query, filters, ids, first, active, limit, rows, free } = listed;
  const box = useRef<HTMLDivElement>(null);
  useInitialScroll(box, `${list}-${first}`, `${query} ${[...filters].join()}`);

  const onPointerMove = (event: PointerEvent) => {
    const index = indexAt(event.target);
    if (index !== undefined && index !== active) listed.point(index);
  };
  const freeRow = free !== undefined && free.index < limit && (
    <FreeRow id={`${list}-${free.index}`} index={free.index} model={free.id} active={active === free.index} />
  );
  return (
    // A press on the list must not take the focus from the field.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field.
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
        if (limit < ids.length && scrollHeight - scrollTop - clientHeight < NEAR_END_PX) listed.renderMore();
      }}
    >
      {free?.index === 0 && freeRow}
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
      {free?.index !== 0 && freeRow}
    </div>
  );
}

const indexAt = (target: EventTarget): number | undefined => {
  const index = (target as Element).closest<HTMLElement>("[role='option']")?.dataset.index;
  return index === undefined ? undefined : Number(index);
};
