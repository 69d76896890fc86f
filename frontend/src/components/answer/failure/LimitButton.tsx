// The way to the setting that has cut an answer; where it has been raised since, there is none.
import type { AnswerActions } from "../../../run/answer/answerActions.ts";
import { isRaisable, type ReachedLimit } from "../../../run/answer/reachedLimit.ts";
import { Button } from "../../ui/Button.tsx";

interface Props {
  limit: ReachedLimit | undefined;
  actions: AnswerActions;
  look?: "outline";
}

export function LimitButton({ limit, actions: { limits, onLimit }, look }: Props) {
  if (!limit || !onLimit || !isRaisable(limit, limits)) return null;
  return (
    <Button {...(look && { look })} onClick={() => onLimit(limit.name)}>
      Raise limit
    </Button>
  );
}
