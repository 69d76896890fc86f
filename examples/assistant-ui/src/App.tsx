import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { useState } from "react";
import type { State } from "./signalbox";
import { Thread } from "./Thread";
import { type Failure, useSignalbox } from "./useSignalbox";

/** The page: one thread, which the address names. */
export function App({ initial }: { initial: State }) {
  const [failure, setFailure] = useState<Failure>();
  const runtime = useSignalbox(initial, setFailure);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Header />
      <Thread failure={failure} />
    </AssistantRuntimeProvider>
  );
}

/** The page without a server. */
export function Unreachable({ reason }: { reason: string }) {
  return (
    <>
      <Header />
      <p role="alert" className="failure">
        {reason}
      </p>
    </>
  );
}

function Header() {
  return (
    <header>
      <h1>Shopping assistant</h1>
      <a href={location.pathname + location.search}>New chat</a>
    </header>
  );
}
