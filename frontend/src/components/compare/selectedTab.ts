// Remembers the selected tab of a comparison while its row is unmounted.
import { useCallback, useState } from "react";

const kept = new WeakMap<object, ReadonlyMap<string, string>>();

/** Returns the model of the selected tab, or undefined, and a function that selects another. */
export function useShownTab(chat: object, question: string): [string | undefined, (model: string) => void] {
  const [, redraw] = useState(0);
  const show = useCallback(
    (model: string) => {
      kept.set(chat, new Map(kept.get(chat)).set(question, model));
      redraw((drawn) => drawn + 1);
    },
    [chat, question],
  );
  return [kept.get(chat)?.get(question), show];
}
