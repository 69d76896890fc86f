// Which tab of a comparison the reader has chosen; it is kept while its row is out of sight and not drawn.
import { useCallback, useState } from "react";

const kept = new WeakMap<object, ReadonlyMap<string, string>>();

/** The model of the tab, and a function that chooses another; undefined: the reader has chosen none. */
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
