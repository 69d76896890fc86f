// Components that are fetched after the first paint. A component that has arrived renders at once, without a fallback.
import { type ComponentType, use } from "react";
import { retried } from "../../state/retriedLoad.ts";

export type Later<Props> = ComponentType<Props> & {
  /** Fetch it before it is rendered; resolves to whether it is there. */
  preload: () => Promise<boolean>;
};

/**
 * Like `lazy`, which shows the fallback of its Suspense boundary once even when its module is already there. A failed
 * fetch is retried. After the last retry, rendering throws and `preload` resolves to false; the next preload fetches
 * anew.
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

/** `use` does not suspend for a promise that says by `status` that it is fulfilled. */
function tracked<Value>(promise: Promise<Value>): Promise<Value> {
  promise.then(
    (value) => Object.assign(promise, { status: "fulfilled", value }),
    () => undefined,
  );
  return promise;
}
