// The possible actions on an answer. An undefined action has no button.
import type { ParameterName, Parameters } from "../../types/api.ts";

/** Why another model is asked. `unknown`: the requested model does not exist. `silent`: it sends nothing. */
export type RetryReason = "unknown" | "silent";

export interface AnswerActions {
  /** Send the same message again with the same model. */
  onRetry: (() => void) | undefined;
  /** Send the same message to another model, which the user chooses first. */
  onRetryWith: ((reason?: RetryReason) => void) | undefined;
  /** Stop the answer and focus the message box. */
  onStop: () => void;
  /** Continue the answer where it stopped. */
  onContinue: (() => void) | undefined;
  /** Open the details of its run, or of one of its runs. */
  onInspect: (runId?: string) => void;
  /** The limits in the current settings. */
  limits: Parameters;
  /** Open the settings at this limit. */
  onLimit: ((name: ParameterName) => void) | undefined;
  /** Save a snapshot of the run. */
  onSave: (() => void) | undefined;
  /** Send the message in a new chat. */
  onNew: (() => void) | undefined;
  /** Enter an access token. */
  onToken: (() => void) | undefined;
}
