// The system prompt that the user has set in a chat. Date and time in it are filled in when it is first sent.
import { fillVariables } from "../../logic/chat/variables.ts";

export class SystemPrompt {
  /** The last prompt and its filled-in form. Later requests reuse it, so that the time does not change the prompt. */
  #filled: { system: string; as: string } | undefined;

  /** The filled-in form. Undefined if no prompt is set. */
  sent(system: string | undefined): string | undefined {
    if (system === undefined) return undefined;
    if (this.#filled?.system !== system) this.#filled = { system, as: fillVariables(system, new Date()) };
    return this.#filled.as;
  }
}
