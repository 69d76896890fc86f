// Components that are fetched after the first paint. A component that has arrived renders at once, without a fallback.
import { type ComponentType, use } from "react";

export type Later<Props> = ComponentType<Props> & {
  /** Fetch it before it is rendered; resolves when it is there, or could not be fetched. */
  preload: () => Promise<void>;
};

/**
 * Like `lazy`, which shows the fallback of its Suspense boundary once even when its module is already there.
 * A preload that fails is forgotten, so rendering fetches again; a fetch that fails while rendering throws.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): Later<Props> {
  let coming: Promise<ComponentType<Props>> | undefined;
  const fetched = () => {
    coming ??= tracked(load());
    return coming;
  };
  const preload = async () => {
    try {
      await fetched();
    } catch {
      coming = undefined;
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
