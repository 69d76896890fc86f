// One block of an answer. A finished block is parsed once. Of a growing block, only the last piece is parsed again.
import { createContext, memo, type ReactNode, useContext, useMemo } from "react";
import { type BlockKind, type Block as BlockText, cells, labelOf } from "../../logic/markdown/blocks.ts";
import { formulaOf, mathOf } from "../../logic/markdown/formulas.ts";
import { isFormulaWithinLimits, isWithinLimits, MAX_CELLS } from "../../logic/markdown/parseLimits.ts";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { closeOpenMarks, parsedLength } from "./closeOpenMarks.ts";
import { CodeBlock } from "./code/CodeBlock.tsx";
import { useMath } from "./math.ts";
import { type Container, ParsedMarkdown, type Within } from "./ParsedMarkdown.tsx";
import { Table } from "./Table.tsx";

const NONE: ReadonlyMap<string, string> = new Map();

/** The link and footnote definitions of the answer, by label. */
export const Definitions = createContext(NONE);

interface GroupProps {
  blocks: readonly BlockText[];
  /** The blocks no longer change, but the answer still grows. */
  still: boolean;
}

/** A finished group is neither laid out nor painted again while the answer grows (quirk H1). */
export const BlockGroup = memo(function Group({ blocks, still }: GroupProps) {
  if (blocks.length === 0) return null;
  return (
    <div className={still ? "passage passage-still" : "passage"}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only ever grow at the end.
        <Block key={index} block={block} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ block }: { block: BlockText }) {
  const view = VIEWS[block.kind](block);
  return view && <ErrorBoundary fallback={<Plain {...block} />}>{view}</ErrorBoundary>;
});

/** The block's text, exactly as written. */
const Plain = ({ kind, pieces }: BlockText) => (
  <p className="plain" dir="auto">
    {pieces.join(kind === "text" ? " " : kind === "code" ? "" : "\n")}
  </p>
);

const VIEWS: Record<BlockKind, (block: BlockText) => ReactNode> = {
  code: ({ pieces, language, open }) => <CodeBlock pieces={pieces} language={language} open={open} />,
  math: (block) => <Formula {...block} />,
  definition: () => null,
  note: (block) => <Note {...block} />,
  text: (block) => (block.pieces.length > 1 ? <p dir="auto">{pieces(block, "p")}</p> : single(block)),
  table: (block) => {
    if (block.pieces.length === 1) return single(block);
    return isLarge(block) ? <Plain {...block} /> : <LongTable {...block} />;
  },
  list: (block) => (block.pieces.length > 1 ? <LongList {...block} /> : single(block)),
};

const single = ({ pieces: [text = ""], open }: BlockText) => <Piece text={text} open={open} />;

const pieces = ({ pieces, open }: BlockText, within: Container, head = "") =>
  pieces.map((text, index) => {
    const grows = open && index === pieces.length - 1;
    const whole = index > 0 ? head + text : text;
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces only ever grow at the end.
    return <Piece key={index} text={whole} open={grows} within={within} spaced={within === "p" && index > 0} />;
  });

function LongList(block: BlockText) {
  const [, digits] = /^ {0,3}(?:(\d+)[.)]|[-*+])/.exec(block.pieces[0] ?? "") ?? [];
  if (!digits) return <ul dir="auto">{pieces(block, "ul")}</ul>;
  return (
    <ol dir="auto" start={Number(digits)}>
      {pieces(block, "ol")}
    </ol>
  );
}

/** Every row has as many cells as the header. */
function isLarge({ pieces: [first = "", ...others] }: BlockText): boolean {
  const rows = others.reduce((sum, piece) => sum + piece.split("\n").length, first.split("\n").length);
  return rows * cells(first.split("\n", 1)[0] ?? "") > MAX_CELLS;
}

function LongTable(block: BlockText) {
  const head = (block.pieces[0] ?? "").split("\n", 2).join("\n");
  return (
    <Table>
      <thead>
        <Piece text={head} open={false} within="thead" />
      </thead>
      <tbody>{pieces(block, "tbody", `${head}\n`)}</tbody>
    </Table>
  );
}

function Formula({ pieces: [text = ""], open }: BlockText) {
  const formula = formulaOf(text);
  const math = useMath(!open && isFormulaWithinLimits(formula));
  return math ? <ParsedMarkdown text={`$$\n${formula}\n$$`} math={math} /> : <FormulaText>{formula}</FormulaText>;
}

const FormulaText = ({ children }: { children: string }) => (
  <p className="formula" dir="ltr">
    {children}
  </p>
);

/** A footnote is shown where it was written. Its mark is no link, so the page's address does not change. */
function Note({ pieces: [text = ""], open }: BlockText) {
  const [mark = "", label = ""] = /^ {0,3}\[\^([^\]]+)\]:\s*/.exec(text) ?? [];
  return (
    <div className="note" dir="auto">
      <sup dir="ltr">{label}</sup>
      <div>
        <Piece text={text.slice(mark.length).replaceAll(/^( {1,4}|\t)/gm, "")} open={open} within="note" />
      </div>
    </div>
  );
}

interface PieceProps {
  text: string;
  open: boolean;
  within?: Within;
  /** The paragraph was cut at a space before this piece. */
  spaced?: boolean;
}

const Piece = memo(function Piece(props: PieceProps) {
  const { text, within, spaced } = props;
  const definitions = useContext(Definitions);
  const defined = useMemo(() => definedFor(text, definitions), [text, definitions]);
  const mayBeParsed = useMemo(() => isWithinLimits(text) && isWithinLimits(defined), [text, defined]);
  return (
    <>
      {spaced && " "}
      {mayBeParsed ? <ParsedPiece {...props} defined={defined} /> : inPlain(text, within)}
    </>
  );
});

function ParsedPiece({ text, open, within, defined }: PieceProps & { defined: string }) {
  const formulas = useMemo(() => (open ? undefined : mathOf(text)), [text, open]);
  const math = useMath(formulas !== undefined);
  const until = open ? parsedLength(text) : text.length;
  const soFar = text.slice(0, until);
  const healed = useMemo(() => (open ? closeOpenMarks(soFar) : soFar), [soFar, open]);
  const shown = (math && formulas) ?? healed;
  const rest = text.slice(until);
  return (
    <>
      <ParsedMarkdown text={defined ? `${shown}\n\n${defined}` : shown} within={within} math={math} />
      {rest && (within && within !== "note" ? rest : inPlain(rest, within))}
    </>
  );
}

/** Unparsed text in an element that its container allows. */
function inPlain(text: string, within: Within | undefined): ReactNode {
  if (within === "p") return <span className="plain">{text}</span>;
  if (within === "ul" || within === "ol") return <li className="plain">{text}</li>;
  return (
    <p className="plain" dir={within === "note" ? undefined : "auto"}>
      {text}
    </p>
  );
}

/** Only the definitions that this text refers to: a new definition does not cause other pieces to be parsed again. */
function definedFor(text: string, definitions: ReadonlyMap<string, string>): string {
  if (definitions.size === 0) return "";
  const labels = [...text.matchAll(/\[([^[\]]+)\]/g)].map(([, label = ""]) => labelOf(label));
  return [...new Set(labels)]
    .map((label) => definitions.get(label))
    .filter(Boolean)
    .join("\n\n");
}
