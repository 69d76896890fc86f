// Old answers are brought when they come into view: few at a time, and those first that were wanted last.
import type { Answer } from "../chat/answer.ts";

const AT_ONCE = 2;

export class Loading {
  #wanted: Answer[] = [];
  #under = 0;

  /** Call the result when it is not wanted any more. */
  want(answer: Answer): () => void {
    if (answer.state.known === "text" && !answer.isLive) {
      this.#wanted.push(answer);
      this.#next();
    }
    return () => {
      this.#wanted = this.#wanted.filter((other) => other !== answer);
    };
  }

  #next(): void {
    if (this.#under >= AT_ONCE) return;
    const answer = this.#wanted.pop();
    if (!answer) return;
    this.#under += 1;
    void answer.load().finally(() => {
      this.#under -= 1;
      this.#next();
    });
  }
}
