// Components that load after the first paint. A loaded component renders without a fallback.
import { type ComponentType, use } from "react";
import { retried } from "../../state/retriedLoad.ts";

export type Later<Props> = ComponentType<Props> & {
  /** Load the component before it is rendered. Resolves to whether it has loaded. */
  preload: () => Promise<boolean>;
};

/**
 * Like `lazy`, which shows its fallback once even if the module is already loaded. A failed load is retried. After the
 * last retry, rendering throws and `preload` resolves to false; the next preload starts over.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): Later<Props> {
  let coming: Promise<ComponentType<Props>> | undefined;
  const fetched = () => {
    coming ??= tracked(retried(load));
    return coming;
  };
  const preload = async () => {
    try {
      await fetched();
      return true;
    } catch {
      coming = undefined;
      return false;
    }
  };
  // biome-ignore lint/correctness/noComponentHookFactories: called once per module, at its top level, like `lazy`.
  const Shown = (props: Props) => {
    const Component = use(fetched());
    return <Component {...props} />;
  };
  return Object.assign(Shown, { preload });
}

/** `use` does not suspend for a promise whose `status` is "fulfilled". */
function tracked<Value>(promise: Promise<Value>): Promise<Value> {
  promise.then(
    (value) => Object.assign(promise, { status: "fulfilled", value }),
    () => undefined,
  );
  return promise;
}
