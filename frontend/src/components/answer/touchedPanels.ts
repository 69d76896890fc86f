// Which panels the reader has opened or closed by hand: that holds as long as the page lives, wherever the answer is shown again.
import { useCallback, useState } from "react";

export type Touched = ReadonlyMap<string, boolean>;

const NONE: Touched = new Map();

/** Outside React: a list that shows only what is in sight unmounts panels and mounts them again (quirk H3). */
const kept = new WeakMap<object, Touched>();

/** By the id of the stop; `answer` is whatever object stands for the answer while the page lives. */
export function useTouched(answer: object): [Touched, (id: string, open: boolean) => void] {
  const [, show] = useState(0);
  const touch = useCallback(
    (id: string, open: boolean) => {
      kept.set(answer, new Map(kept.get(answer)).set(id, open));
      show((shown) => shown + 1);
    },
    [answer],
  );
  return [kept.get(answer) ?? NONE, touch];
}
