// One file that the model writes: a sentence with its size, updated in place, and below it the input and result.
import { memo } from "react";
import { fileSentence } from "../../logic/answer/fileSentence.ts";
import type { Stop } from "../../logic/answer/stops.ts";
import { Aside, StepHeader } from "./StepHeader.tsx";
import { CallCard } from "./ToolChips.tsx";

type FileStop = Extract<Stop, { kind: "file" }>;

interface Props {
  stop: FileStop;
  open: boolean;
  onToggle: (id: string, open: boolean) => void;
}

export const FileStep = memo(
  function FileStep({ stop: { id, lamp, call }, open, onToggle }: Props) {
    const { title, size, reason } = fileSentence(call);
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
        notice={reason}
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
