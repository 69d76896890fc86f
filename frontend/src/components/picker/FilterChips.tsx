// Filters of the model list: a model must have all selected abilities.
import { Brain, Image, type LucideIcon, Wrench } from "lucide-react";
import { FILTERS, type Filter } from "../../logic/models/modelSearch.ts";

export const FILTER_WORDS: Record<Filter, { label: string; icon: LucideIcon | undefined }> = {
  tools: { label: "Tools", icon: Wrench },
  reasoning: { label: "Reasoning", icon: Brain },
  images: { label: "Images", icon: Image },
  free: { label: "Free", icon: undefined },
};

interface Props {
  chosen: ReadonlySet<Filter>;
  onChange: (chosen: ReadonlySet<Filter>) => void;
}

export function FilterChips({ chosen, onChange }: Props) {
  const toggle = (filter: Filter) => onChange(new Set(FILTERS.filter((one) => (one === filter) !== chosen.has(one))));
  return (
    <fieldset className="flex flex-wrap gap-1.5 border-edge border-b px-3 py-2">
      <legend className="sr-only">Filter models</legend>
      {FILTERS.map((filter) => {
        const { label, icon: Icon } = FILTER_WORDS[filter];
        return (
          <button
            key={filter}
            type="button"
            aria-pressed={chosen.has(filter)}
            onClick={() => toggle(filter)}
            className="inline-flex h-6 narrow:h-8 cursor-pointer select-none items-center gap-1 rounded-full border border-edge px-2 text-dim text-tiny transition-colors hover:border-edge-strong hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-wash aria-pressed:text-ink"
          >
            {Icon && <Icon aria-hidden="true" className="size-3" />}
            {label}
          </button>
        );
      })}
    </fieldset>
  );
}
