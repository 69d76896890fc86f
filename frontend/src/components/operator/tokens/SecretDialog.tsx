// Shows the text of a new token, once.
import type { Secret } from "../../../state/operator/tokenRequests.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Dialog } from "../../ui/Dialog.tsx";

export function SecretDialog({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  return (
    <Dialog
      open
      title={`The token of ${secret.name}`}
      description="Copy it now. It cannot be shown again. If it is lost, rotate the token."
      onClose={onClose}
    >
      <div className="grid gap-3 px-4 pt-1 pb-4">
        <code
          data-part="secret"
          className="select-all rounded-md bg-sunken px-3 py-2 font-mono text-small wrap-anywhere"
        >
          {secret.text}
        </code>
        <div className="flex justify-end gap-2">
          <Copy text={() => secret.text} look="primary" size="medium">
            Copy token
          </Copy>
          <Button look="outline" size="medium" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
