// Renders Markdown. The renderer is loaded on demand; until then the plain text is shown.
import { lazy, memo, Suspense } from "react";
import { retried } from "../../state/retriedLoad.ts";
import type { Link } from "../../types/models.ts";

const loadMarkdown = () => retried(() => import("./Markdown.tsx"));
const Markdown = lazy(loadMarkdown);

/** Load the renderer while the user is typing. */
export const preloadProse = (): void => {
  loadMarkdown().catch(() => undefined);
};

export interface ProseProps {
  text: string;
  sources: ReadonlyMap<number, Link>;
  /** False while the text grows. */
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
