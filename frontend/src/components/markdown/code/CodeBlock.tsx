// A code block with its language and a copy button. It is highlighted while it grows.
import { memo } from "react";
import { Copy } from "../../ui/Copy.tsx";
import { type Line, restOf, useHighlight } from "./highlight.ts";

interface Props {
  /** Pieces, so that only the last one of a growing block changes (quirk H1). */
  pieces: readonly string[];
  language: string;
  open: boolean;
}

export const Code = ({ language, children }: { language: string; children: string }) => (
  <CodeBlock pieces={[children]} language={language} open={false} />
);

export function CodeBlock({ pieces, language, open }: Props) {
  return (
    <div className="code" data-part="code" dir="ltr">
      <div className="code-head">
        <span>{language || "text"}</span>
        {!open && <Copy text={() => pieces.join("").replace(/\n$/, "")} />}
      </div>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: it is no group of fields. */}
      <pre role="group" tabIndex={0} aria-label={language ? `Code, ${language}` : "Code"}>
        <code>
          <HighlightedText pieces={pieces} language={language} />
        </code>
      </pre>
      {/* biome-ignore-end lint/a11y/useSemanticElements: it is no group of fields. */}
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
    </div>
  );
}

/** The highlighted lines, followed by the rest as plain text. */
function HighlightedText({ pieces, language }: Omit<Props, "open">) {
  const { groups, length } = useHighlight(pieces, language);
  const rest = restOf(pieces, length);
  return (
    <>
      {groups.map((lines, index) => {
        const isLast = index === groups.length - 1;
        // biome-ignore lint/suspicious/noArrayIndexKey: lines only ever grow at the end.
        return <Lines key={`lines ${index}`} lines={lines} isLast={isLast} rest={isLast ? rest.text : ""} />;
      })}
      {pieces.slice(rest.next).map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces only ever grow at the end.
        <Plain key={`piece ${rest.next + index}`} text={text} />
      ))}
    </>
  );
}

const Plain = memo(function Plain({ text }: { text: string }) {
  return <span className="block">{text}</span>;
});

interface LinesProps {
  lines: readonly Line[];
  /** The last line of the group has no line break yet. */
  isLast: boolean;
  rest: string;
}

const Lines = memo(function Lines({ lines, isLast, rest }: LinesProps) {
  return (
    <span className="block">
      {lines.map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines only ever grow at the end.
        <Coloured key={row} line={line} ends={!isLast || row < lines.length - 1} />
      ))}
      {rest}
    </span>
  );
});

/** HighlightedText without a colour are plain text nodes, which keeps a page of code light. */
const Coloured = memo(function Coloured({ line, ends }: { line: Line; ends: boolean }) {
  return (
    <>
      {line.map(([colour, text], index) =>
        colour ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: words of a line do not move.
          <span key={index} className={`code-${colour}`}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
      {ends && "\n"}
    </>
  );
});
