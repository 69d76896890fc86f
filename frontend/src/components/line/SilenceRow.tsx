// The model has sent nothing for long: since when, and what the reader can do about it.
import type { Answer } from "../../hooks/answer.ts";
import type { AnswerActions } from "../../run/actions.ts";
import { Button } from "../ui/Button.tsx";
import { Seconds } from "./Seconds.tsx";
import { StopRow } from "./StopHead.tsx";

interface Props {
  answer: Answer;
  /** By the page's clock. */
  since: number;
  actions: AnswerActions;
}

export function SilenceRow({ answer, since, actions: { onRetryWith } }: Props) {
  const stop = () => void answer.stop();
  const askAnother = () => {
    stop();
    onRetryWith?.();
  };
  return (
    <StopRow kind="silence" lamp="running">
      No output from the model
      <Seconds since={since} />
      <span className="flex flex-wrap gap-2 pt-1.5">
        <Button look="outline" onClick={stop}>
          Stop
        </Button>
        {onRetryWith && (
          <Button look="outline" onClick={askAnother}>
            Choose another model
          </Button>
        )}
      </span>
    </StopRow>
  );
}
