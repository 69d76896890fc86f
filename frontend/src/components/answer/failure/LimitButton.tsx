// A button that opens the setting whose limit cut the answer. Hidden if the setting has been raised since.
import type { AnswerActions } from "../../../logic/answer/answerActions.ts";
import { isRaisable, type ReachedLimit } from "../../../logic/answer/reachedLimit.ts";
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
