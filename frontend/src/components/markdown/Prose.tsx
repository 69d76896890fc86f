// Markdown, loaded when the first answer needs it; until then the plain text stands in its place.
import { lazy, memo, Suspense } from "react";
import { retried } from "../../state/retriedLoad.ts";
import type { Link } from "../../types/models.ts";

const loadMarkdown = () => retried(() => import("./Markdown.tsx"));
const Markdown = lazy(loadMarkdown);

/** Fetch the renderer while the reader still types. */
export const preloadProse = (): void => {
  loadMarkdown().catch(() => undefined);
};

export interface ProseProps {
  text: string;
  sources: ReadonlyMap<number, Link>;
  /** False: the text still grows. */
  settled: boolean;
}

const PlainText = ({ text }: { text: string }) => (
  <p className="plain" dir="auto">
    {text}
  </p>
);

export const Prose = memo(function Prose({ text, sources, settled }: ProseProps) {
  return (
    <div className="prose">
      <Suspense fallback={<PlainText text={text} />}>
        <Markdown text={text} sources={sources} settled={settled} />
      </Suspense>
    </div>
  );
});
