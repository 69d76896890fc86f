// What may be done with an answer; what cannot be done now is undefined, and then has no button.
import type { ParameterName, Parameters } from "../types/api.ts";

export interface AnswerActions {
  /** Ask the same question again, the same way. */
  onRetry: (() => void) | undefined;
  /** Ask the same question again with another model, which is picked first. `unknown`: the one it went to is none. */
  onRetryWith: ((unknown?: boolean) => void) | undefined;
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
  /** Enter an access token. */
  onToken: (() => void) | undefined;
}
