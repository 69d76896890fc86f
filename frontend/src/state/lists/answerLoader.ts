// Loads old answers when they come into view: a few at a time, the latest request first.
import type { Answer } from "../answer/answer.ts";

const AT_ONCE = 2;

export class AnswerLoader {
  #wanted: Answer[] = [];
  #loading = 0;

  /** Call the result when the answer is no longer needed. */
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
    if (this.#loading >= AT_ONCE) return;
    const answer = this.#wanted.pop();
    if (!answer) return;
    this.#loading += 1;
    void answer.load().finally(() => {
      this.#loading -= 1;
      this.#next();
    });
  }
}
