// The way to the setting that has cut an answer.
import type { AnswerActions } from "../../run/actions.ts";
import { reachedLimit } from "../../run/limits.ts";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";

interface Props {
  trace: RunTrace;
  end: RunEnd;
  actions: AnswerActions;
  look?: "outline";
}

export function LimitButton({ trace, end, actions: { limits, onLimit }, look }: Props) {
  const limit = reachedLimit(trace, end, limits);
  if (!limit || !onLimit) return null;
  return (
    <Button {...(look && { look })} onClick={() => onLimit(limit.name)}>
      Raise limit
    </Button>
  );
}
