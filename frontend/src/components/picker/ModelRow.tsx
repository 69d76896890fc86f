// One row of the model list: name, id, abilities, context window and price.
import { Check, CornerDownLeft, Star } from "lucide-react";
import { memo } from "react";
import { shortName } from "../../logic/models/modelNames.ts";
import { type Filter, perMillion, priceText, tokenText } from "../../logic/models/modelSearch.ts";
import type { Model, Pricing } from "../../types/api.ts";
import { FILTER_WORDS } from "./FilterChips.tsx";

// Rows out of sight are neither laid out nor painted.
const ROW =
  "flex w-full cursor-pointer [contain-intrinsic-height:3rem] narrow:[contain-intrinsic-height:4rem] [content-visibility:auto] select-none scroll-mt-9 scroll-mb-1 items-center rounded-sm data-[active=true]:bg-accent-wash";

interface Props {
  id: string;
  /** The index among all listed models, rendered or not. */
  index: number;
  count: number;
  model: Model;
  active: boolean;
  selected: boolean;
  starred: boolean;
}

export const ModelRow = memo(function ModelRow({ id, index, count, model, active, selected, starred }: Props) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active row.
    <div
      id={id}
      role="option"
      aria-selected={selected}
      aria-setsize={count}
      aria-posinset={index + 1}
      data-index={index}
      data-active={active}
      data-model={model.id}
      className={ROW}
    >
      <div className="flex min-w-0 flex-1 items-center gap-x-3 py-1.5 ps-2 narrow:flex-col narrow:items-stretch">
        <div className="min-w-0 flex-1">
          <p className="flex items-center gap-1.5">
            <span className="truncate text-small">{shortName(model)}</span>
            {selected && <Check aria-hidden="true" className="size-4 shrink-0 text-accent" />}
          </p>
          <p className="flex gap-x-2 text-dim text-tiny">
            <span className="truncate font-mono">{model.id}</span>
            {model.upstreams && (
              <span data-part="upstreams" title="Upstreams in the order of fallback" className="shrink-0">
                via {model.upstreams.join(", ")}
              </span>
            )}
          </p>
        </div>
        <Facts model={model} />
      </div>
      {/* For the pointer. Keyboard users have the button below the list. */}
      <span
        aria-hidden="true"
        data-part="star"
        data-starred={starred}
        title={starred ? "Remove star" : "Star"}
        className="flex size-9 shrink-0 items-center justify-center text-edge-strong hover:text-ink data-[starred=true]:text-lamp-running"
      >
        <Star className={`size-4 ${starred ? "fill-current" : ""}`} />
      </span>
    </div>
  );
});

const BADGES: readonly Filter[] = ["tools", "reasoning", "images"];

function Facts({ model: { badges, context, pricing, isGone } }: { model: Model }) {
  if (isGone) return <span className="shrink-0 text-dim text-tiny">Not in the model list</span>;
  return (
    <div className="flex shrink-0 items-center gap-x-3 text-dim text-tiny tabular-nums">
      <span className="flex gap-1">
        {BADGES.map((badge) => {
          const { label, icon: Icon } = FILTER_WORDS[badge];
          if (!badges.includes(badge) || !Icon) return <span key={badge} className="size-4 narrow:hidden" />;
          return (
            <span key={badge} title={label} className="flex size-4 items-center justify-center">
              <Icon aria-hidden="true" className="size-3.5" />
              <span className="sr-only">{label}, </span>
            </span>
          );
        })}
      </span>
      <span className="w-9 text-end narrow:w-auto">
        {context !== undefined && tokenText(context)}
        {context !== undefined && <span className="sr-only"> tokens, </span>}
      </span>
      <span className="w-24 text-end narrow:w-auto">
        <span aria-hidden="true">{priceText(pricing)}</span>
        <span className="sr-only">{spokenPrice(pricing)}</span>
      </span>
    </div>
  );
}

function spokenPrice(pricing: Pricing): string {
  const words = priceText(pricing);
  if (!words.startsWith("$") && !words.startsWith("<")) return words;
  const { prompt, completion } = pricing;
  const parts = [
    prompt === undefined ? "" : `${perMillion(prompt)} input`,
    completion === undefined ? "" : `${perMillion(completion)} output`,
  ];
  return `${parts.filter(Boolean).join(", ")}, per million tokens`;
}

interface FreeProps {
  id: string;
  index: number;
  model: string;
  active: boolean;
}

/** The typed text as a model id that is not listed. */
export function FreeRow({ id, index, model, active }: FreeProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: as above.
    <div
      id={id}
      role="option"
      aria-selected={false}
      data-index={index}
      data-active={active}
      data-part="free-id"
      className={`${ROW} gap-2 px-2 py-1.5`}
    >
      <CornerDownLeft aria-hidden="true" className="size-4 shrink-0 text-dim" />
      <div className="min-w-0">
        <p className="truncate font-mono text-small">{model}</p>
        <p className="text-dim text-tiny">Not in the list. It is used exactly as typed and may not exist.</p>
      </div>
    </div>
  );
}
