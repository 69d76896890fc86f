// What may be done with an answer; what cannot be done now is undefined, and then has no button.
import type { ParameterName, Parameters } from "../../types/api.ts";

/** Why another model is asked. `unknown`: the model that was asked does not exist. `silent`: it sends nothing. */
export type RetryReason = "unknown" | "silent";

export interface AnswerActions {
  /** Ask the same question again, the same way. */
  onRetry: (() => void) | undefined;
  /** Ask the same question again with another model, which is picked first. */
  onRetryWith: ((reason?: RetryReason) => void) | undefined;
  /** Stop it, and go on in the message box. */
  onStop: () => void;
  /** Have the answer go on where it stopped. */
  onContinue: (() => void) | undefined;
  /** Open the inspector of its run, or of one of the runs that it consists of. */
  onInspect: (runId?: string) => void;
  /** The limits that the reader's settings say now. */
  limits: Parameters;
  /** Open the settings where this limit is set. */
  onLimit: ((name: ParameterName) => void) | undefined;
  /** Keep a frozen copy of the run. */
  onSave: (() => void) | undefined;
  /** Ask the question in a new chat. */
  onNew: (() => void) | undefined;
  /** Enter an access token. */
  onToken: (() => void) | undefined;
}
