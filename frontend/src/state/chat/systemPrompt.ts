// The instructions that the reader has set in a chat: sent with the date and the time of when they were first sent.
import { fillVariables } from "../../run/chat/variables.ts";

export class Instructions {
  /** What was set last, and as what it was sent: the time in it must not make it new each time. */
  #filled: { system: string; as: string } | undefined;

  /** As they are sent; undefined where none are set. */
  sent(system: string | undefined): string | undefined {
    if (system === undefined) return undefined;
    if (this.#filled?.system !== system) this.#filled = { system, as: fillVariables(system, new Date()) };
    return this.#filled.as;
  }
}
