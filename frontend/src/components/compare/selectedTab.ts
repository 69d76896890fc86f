// Remembers the selected tab of a comparison while its row is unmounted.
import { useCallback, useState } from "react";

const tabsByChat = new WeakMap<object, ReadonlyMap<string, string>>();

/** Returns the key of the selected column, or undefined, and a function that selects another. */
export function useSelectedTab(chat: object, question: string): [string | undefined, (key: string) => void] {
  const [, redraw] = useState(0);
  const show = useCallback(
    (key: string) => {
      tabsByChat.set(chat, new Map(tabsByChat.get(chat)).set(question, key));
      redraw((drawn) => drawn + 1);
    },
    [chat, question],
  );
  return [tabsByChat.get(chat)?.get(question), show];
}
