// A citation as a chip that links to its source, with a preview card.
import { PreviewCard } from "@base-ui/react/preview-card";
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import type { Link } from "../../types/models.ts";
import { passEscape } from "../ui/escapeKey.ts";
import { safeHref } from "./linkTarget.ts";

interface Cited {
  sources: ReadonlyMap<number, Link>;
  /** One card serves all chips of an answer. */
  card: PreviewCard.Handle<Link> | undefined;
}

/** New sources only render the chips again. */
const Context = createContext<Cited>({ sources: new Map(), card: undefined });

/** Provides the sources that `[n]` in an answer refers to. */
export function CitationProvider({ sources, children }: { sources: ReadonlyMap<number, Link>; children: ReactNode }) {
  const [card] = useState(() => PreviewCard.createHandle<Link>());
  const cited = useMemo(() => ({ sources, card }), [sources, card]);
  return (
    <Context value={cited}>
      {children}
      {sources.size > 0 && (
        <PreviewCard.Root handle={card} onOpenChange={(_, change) => passEscape(change, () => card.close())}>
          {({ payload }) => (
            <PreviewCard.Portal>
              <PreviewCard.Positioner sideOffset={6} collisionPadding={8} className="z-40">
                {/* The card repeats what the link's label already says. */}
                <PreviewCard.Popup data-part="cite-card" aria-hidden="true" className={CARD}>
                  {payload && <Card link={payload} />}
                </PreviewCard.Popup>
              </PreviewCard.Positioner>
            </PreviewCard.Portal>
          )}
        </PreviewCard.Root>
      )}
    </Context>
  );
}

const CARD =
  "w-80 max-w-[calc(100vw-1rem)] rounded-md border border-edge bg-raised p-3 text-small shadow-over transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0";

/** If a number has no source, the text stays as written (quirk H6). */
export function CitationChip({ numbers, words }: { numbers: readonly number[]; words: string }) {
  const { sources, card } = useContext(Context);
  const links = numbers.map((n) => sources.get(n)).filter((link) => link !== undefined);
  if (!card || links.length < numbers.length) return words;
  return links.map((link, index) => {
    const n = numbers[index] ?? 0;
    const href = safeHref(link.url);
    return (
      <PreviewCard.Trigger
        // biome-ignore lint/suspicious/noArrayIndexKey: what was written does not move.
        key={index}
        handle={card}
        payload={link}
        delay={120}
        closeDelay={120}
        {...(href !== undefined && { href })}
        target="_blank"
        rel="noopener noreferrer"
        className="cite"
        data-part="cite"
        aria-label={`Source ${n}: ${link.title}`}
      >
        {/* Copying a selection gives the text as it was written. */}
        <span className="sr-only">[</span>
        {n}
        <span className="sr-only">]</span>
      </PreviewCard.Trigger>
    );
  });
}

const Card = ({ link: { n, title, host, snippet } }: { link: Link }) => (
  <>
    <p className="flex gap-2 text-dim text-tiny">
      <span className="min-w-0 flex-1 truncate">{host}</span>
      {n !== undefined && <span className="tabular-nums">[{n}]</span>}
    </p>
    <p dir="auto" className="mt-0.5 line-clamp-2 wrap-anywhere font-semibold">
      {title}
    </p>
    {snippet && (
      <p dir="auto" className="mt-1.5 line-clamp-5 wrap-anywhere text-dim">
        {snippet}
      </p>
    )}
  </>
);
