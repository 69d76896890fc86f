// The answers of comparisons that the user has chosen. The server's leaf alone does not tell them from the column that was
// requested last.
import { ownKey } from "../logic/baseUrl.ts";
import { StoredText } from "./browserStorage.ts";

/** Those of older conversations are forgotten. */
const MOST = 200;

export class ChosenAnswers {
  readonly #stored: StoredText;

  constructor(box: ConstructorParameters<typeof StoredText>[0]) {
    this.#stored = new StoredText(box, ownKey("signalbox.chosen"));
  }

  /** The server's id of the answer that was chosen last in a conversation. */
  of(conversation: string): string | undefined {
    return this.#read()[conversation];
  }

  store(conversation: string, node: string): void {
    const { [conversation]: _, ...others } = this.#read();
    const all = [...Object.entries(others), [conversation, node]].slice(-MOST);
    this.#stored.write(JSON.stringify(Object.fromEntries(all)));
  }

  #read(): Record<string, string> {
    try {
      return { ...JSON.parse(this.#stored.read() || "{}") };
    } catch {
      return {};
    }
  }
}
