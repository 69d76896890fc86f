// Shows a new secret, once.
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface Props {
  title: string;
  /** Why to copy it now, and what to do if it is lost. */
  description: string;
  text: string;
  /** The words of the button that copies it. */
  copy: string;
  onClose: () => void;
}

export function SecretDialog({ title, description, text, copy, onClose }: Props) {
  return (
    <Dialog open title={title} description={description} onClose={onClose}>
      <div className="grid gap-3 px-4 pt-1 pb-4">
        <code
          data-part="secret"
          className="select-all rounded-md bg-sunken px-3 py-2 font-mono text-small wrap-anywhere"
        >
          {text}
        </code>
        <div className="flex justify-end gap-2">
          <Copy text={() => text} look="primary" size="medium">
            {copy}
          </Copy>
          <Button look="outline" size="medium" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
