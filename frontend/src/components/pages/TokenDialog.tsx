// Asks for a token when the server wants one; it is kept for this tab only.
import { useEffect, useRef } from "react";

interface Props {
  open: boolean;
  onToken: (token: string) => void;
  onClose: () => void;
  title?: string;
  hint?: string;
  label?: string;
}

export function TokenDialog({
  open,
  onToken,
  onClose,
  title = "This server asks for an access token.",
  hint = "It is kept in this tab and forgotten when you close it.",
  label = "Access token",
}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);

  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="token-title" onCancel={onClose}>
      {/* Without the field, no password manager takes the page for a place to sign in. */}
      {open && (
        <form
          method="dialog"
          autoComplete="off"
          onSubmit={(event) => {
            event.preventDefault();
            const token = new FormData(event.currentTarget).get("token");
            if (typeof token === "string" && token.trim()) onToken(token.trim());
          }}
        >
          <h2 id="token-title">{title}</h2>
          <p className="dim">{hint}</p>
          <label>
            {label}
            <input
              name="token"
              type="password"
              autoComplete="off"
              data-1p-ignore
              data-lpignore="true"
              spellCheck={false}
              required
            />
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
      )}
    </dialog>
  );
}
