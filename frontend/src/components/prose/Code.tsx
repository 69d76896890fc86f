// A block of code with its language and a button that copies it; a settled one gets its colours.
import { memo, type ReactNode } from "react";
import { Copy } from "../ui/Copy.tsx";
import { type Line, useHighlight } from "./highlight.ts";

interface Props {
  /** In pieces, so that of a growing block only the last one changes (quirk H1). */
  pieces: readonly string[];
  language: string;
  open: boolean;
}

export const Code = ({ language, children }: { language: string; children: string }) => (
  <CodeBlock pieces={[children]} language={language} open={false} />
);

export function CodeBlock({ pieces, language, open }: Props) {
  const lines = useHighlight(pieces, language, !open);
  return (
    <div className="code" data-part="code">
      <div className="code-head">
        <span>{language || "text"}</span>
        {!open && <Copy text={() => pieces.join("").replace(/\n$/, "")} />}
      </div>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: it is no group of fields. */}
      <pre role="group" tabIndex={0} aria-label={language ? `Code, ${language}` : "Code"}>
        <code>{lines ? <Coloured lines={lines} /> : pieces.map(plain)}</code>
      </pre>
      {/* biome-ignore-end lint/a11y/useSemanticElements: it is no group of fields. */}
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
    </div>
  );
}

const plain = (text: string, index: number): ReactNode => <Plain key={index} text={text} />;

const Plain = memo(function Plain({ text }: { text: string }) {
  return <span className="block">{text}</span>;
});

/** Words without a colour are no elements: a page of code stays light. */
const Coloured = memo(function Coloured({ lines }: { lines: readonly Line[] }) {
  return lines.flatMap((line, row) => [
    ...line.map(([colour, text], index) =>
      colour ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: what is settled does not move.
        <span key={`${row}.${index}`} className={`code-${colour}`}>
          {text}
        </span>
      ) : (
        text
      ),
    ),
    "\n",
  ]);
});
