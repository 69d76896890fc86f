// A button of a request that may fail, such as a download. A failure is shown beside it.
import { type ReactNode, useState } from "react";
import { useTemporaryMessage } from "../../hooks/temporaryMessage.ts";
import { PageAlert } from "../pages/PageFrame.tsx";
import { Button } from "../ui/Button.tsx";

interface Props {
  run: () => Promise<void>;
  /** The words of the button while it runs. */
  busy: string;
  /** The beginning of the sentence about a failure: "Not downloaded." */
  failed: string;
  /** The words of the button for a moment after it has succeeded. */
  done?: string;
  children: ReactNode;
}

export function ActionButton({ run, busy, failed, done, children }: Props) {
  const [message, showMessage] = useTemporaryMessage();
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string>();
  const start = async () => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await run();
      if (done) showMessage(done);
    } catch (error) {
      setTrouble(`${failed} ${error instanceof Error ? error.message : error}`);
    }
    setBusy(false);
  };
  return (
    <>
      <Button look="outline" size="medium" disabled={isBusy} onClick={() => void start()}>
        {isBusy ? busy : (message ?? children)}
      </Button>
      {trouble && (
        <div className="basis-full">
          <PageAlert>{trouble}</PageAlert>
        </div>
      )}
    </>
  );
}
