// What may be done with an answer; what cannot be done now is undefined, and then has no button.

export interface AnswerActions {
  /** Ask the same question again, the same way. */
  onRetry: (() => void) | undefined;
  /** Ask the same question again with another model, which is picked first. */
  onRetryWith: (() => void) | undefined;
  /** Have the answer go on where it stopped. */
  onContinue: (() => void) | undefined;
  /** Open the inspector of its run, or of one of the runs that it consists of. */
  onInspect: (runId?: string) => void;
  /** Keep a frozen copy of the run. */
  onSave: (() => void) | undefined;
  /** Enter an access token. */
  onToken: (() => void) | undefined;
}
