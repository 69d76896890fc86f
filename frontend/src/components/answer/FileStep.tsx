// One file that the model writes, or images that it makes: a sentence that is updated in place, and below it the input
// and result.
import { memo, use } from "react";
import { fileSentence } from "../../logic/answer/fileSentence.ts";
import { imageSentence } from "../../logic/answer/imageSentence.ts";
import type { Stop } from "../../logic/answer/stops.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import { OpenFile } from "../ui/OpenFile.tsx";
import { Aside, StepHeader } from "./StepHeader.tsx";
import { CallCard } from "./ToolChips.tsx";

type FileStop = Extract<Stop, { kind: "file" }>;

interface Props {
  stop: FileStop;
  open: boolean;
  onToggle: (id: string, open: boolean) => void;
}

/** Further failures are only counted. */
const SHOWN = 4;

export const FileStep = memo(
  function FileStep({ stop: { id, lamp, call }, open, onToggle }: Props) {
    const { title, size, reasons, path } = sentenceOf(call);
    return (
      <StepHeader
        id={id}
        kind="file"
        lamp={lamp}
        title={
          <>
            {title}
            {size && <Aside>{size}</Aside>}
          </>
        }
        notice={reasons.length > 0 && <Reasons reasons={reasons} />}
        action={path !== undefined && <OpenButton path={path} />}
        open={open}
        onToggle={onToggle}
      >
        {"kind" in call && (
          <ul className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-1.5 pb-0.5">
            <CallCard call={call} />
          </ul>
        )}
      </StepHeader>
    );
  },
  (before, after) =>
    before.open === after.open && before.stop.call === after.stop.call && before.stop.lamp === after.stop.lamp,
);

interface Sentence {
  title: string;
  size: string;
  reasons: readonly string[];
  /** The file that can be opened. Undefined if the call has made none. */
  path: string | undefined;
}

function sentenceOf(call: FileStop["call"]): Sentence {
  const images = "kind" in call ? imageSentence(call) : undefined;
  if (images) {
    const failures = images.failures.map(({ label, reason }) => `${label}: ${reason}`);
    return {
      title: images.title,
      size: "",
      reasons: [...(images.reason ? [images.reason] : []), ...failures],
      path: images.path,
    };
  }
  const { title, size, reason } = fileSentence(call);
  const path = "kind" in call && call.status === "done" ? call.arguments.path : undefined;
  return { title, size, reasons: reason ? [reason] : [], path: typeof path === "string" ? path : undefined };
}

function Reasons({ reasons }: { reasons: readonly string[] }) {
  const rest = reasons.length - SHOWN;
  return (
    <>
      {reasons.slice(0, SHOWN).map((reason, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change.
        <span key={at} dir="auto" className="block wrap-anywhere">
          {reason}
        </span>
      ))}
      {rest > 0 && plural(rest, "more failure")}
    </>
  );
}

/** A single run has no panel with files. */
function OpenButton({ path }: { path: string }) {
  const open = use(OpenFile);
  if (!open) return null;
  return (
    <Button look="outline" className="-my-0.5 shrink-0" aria-label={`Open ${path}`} onClick={() => open(path)}>
      Open
    </Button>
  );
}
