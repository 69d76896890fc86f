// Asks for the access token when the server wants one; it is kept for this tab only.
import { useEffect, useRef } from "react";

interface Props {
  open: boolean;
  onToken: (token: string) => void;
  onClose: () => void;
}

export function TokenDialog({ open, onToken, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);

  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="token-title" onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          const token = new FormData(event.currentTarget).get("token");
          event.currentTarget.reset();
          if (typeof token === "string" && token.trim()) onToken(token);
        }}
      >
        <h2 id="token-title">This server asks for an access token.</h2>
        <p className="dim">It is kept in this tab and forgotten when you close it.</p>
        <label>
          Access token
          <input name="token" type="password" autoComplete="current-password" required />
        </label>
        <div className="dialog-foot">
          <button type="button" className="quiet" onClick={onClose}>
            Not now
          </button>
          <button type="submit" className="primary">
            Use token
          </button>
        </div>
      </form>
    </dialog>
  );
}
