// Says for how long the model has sent nothing, and offers to stop it or to choose another model.
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import { Button } from "../ui/Button.tsx";
import { Seconds } from "./Seconds.tsx";
import { StepRow } from "./StepHeader.tsx";

interface Props {
  /** In milliseconds of the page's clock. */
  since: number;
  actions: AnswerActions;
}

export function SilenceRow({ since, actions: { onStop, onRetryWith } }: Props) {
  return (
    <StepRow kind="silence" lamp="running">
      No output from the model
      <Seconds since={since} />
      <span className="flex flex-wrap gap-2 pt-1.5">
        <Button look="outline" onClick={onStop}>
          Stop
        </Button>
        {onRetryWith && (
          <Button look="outline" onClick={() => onRetryWith("silent")}>
            Choose another model
          </Button>
        )}
      </span>
    </StepRow>
  );
}
