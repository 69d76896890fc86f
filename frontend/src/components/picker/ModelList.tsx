// The model list: search field, filters, and rows. Keys and clicks choose a row.
import { Search } from "lucide-react";
import { type KeyboardEvent, type RefObject, useId } from "react";
import { isListed } from "../../logic/models/modelNames.ts";
import { rowAfterKey } from "../../logic/models/pickerRows.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Model } from "../../types/api.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { FilterChips } from "./FilterChips.tsx";
import { useListedModels } from "./listedModels.ts";
import { ModelRows } from "./ModelRows.tsx";
import { StarButton } from "./StarButton.tsx";

interface Props {
  models: readonly Model[];
  /** The models that are marked as selected. */
  chosen: readonly string[];
  /** The model that the list scrolls to when it opens. Empty: the first one. */
  current: string;
  recent: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  simulated: boolean;
  label: string;
  field: RefObject<HTMLInputElement | null>;
  /** Called with an id, or with undefined to keep the current model. */
  onChoose: (id: string | undefined) => void;
}

export function ModelList({ models, chosen, current, recent, starred, onStar, simulated, label, ...rest }: Props) {
  const { field, onChoose } = rest;
  const list = useId();
  const listed = useListedModels({ models, current, recent, starred, list });
  const { ids, active, activeId, found } = listed;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const stars = event.key.toLowerCase() === "d" && (event.ctrlKey || event.metaKey);
    const next = rowAfterKey(event.key, active, ids.length);
    if (stars) activeId !== undefined && onStar(activeId);
    else if (event.key === "Enter") onChoose(activeId);
    else if (next !== undefined) listed.move(next);
    else return;
    event.preventDefault();
  };

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
          aria-activedescendant={activeId === undefined || active >= listed.limit ? undefined : `${list}-${active}`}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          placeholder="Search or enter a model ID"
          value={listed.query}
          onChange={(event) => listed.search(event.target.value)}
          onKeyDown={onKeyDown}
          className="h-11 w-full rounded-t-md bg-transparent pe-3 ps-9 text-body placeholder:text-dim focus-visible:-outline-offset-2"
        />
      </div>
      <FilterChips chosen={listed.filters} onChange={listed.filter} />
      <Notes simulated={simulated} unlisted={current && !isListed(models, current) ? current : undefined} />
      <ModelRows list={list} listed={listed} chosen={chosen} starred={starred} onStar={onStar} onChoose={onChoose} />
      <div className="flex h-10 items-center gap-3 border-edge border-t px-3 text-dim text-tiny">
        <span role="status">{found === 0 ? "No models found." : plural(found, "model")}</span>
        {found > 0 && <span className="truncate narrow:hidden">Context · $ per million tokens, input · output</span>}
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

interface NotesProps {
  simulated: boolean;
  /** The current model, if it is not in the list. */
  unlisted: string | undefined;
}

function Notes({ simulated, unlisted }: NotesProps) {
  return (
    <>
      {simulated && (
        <p
          className="flex items-center gap-2 border-edge border-b bg-accent-wash px-3 py-1.5 text-small"
          data-part="simulated-note"
        >
          <Lamp lamp="blue" /> No API key is set, so a built-in simulator answers in place of each model.
        </p>
      )}
      {unlisted !== undefined && (
        <p
          className="border-edge border-b bg-amber-wash px-3 py-1.5 text-small wrap-anywhere"
          data-part="unlisted-note"
        >
          {unlisted} is not in the model list and may no longer be available. Choose another model.
        </p>
      )}
    </>
  );
}
