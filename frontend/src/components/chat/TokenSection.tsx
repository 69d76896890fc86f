// The access token in the settings: where it is stored, and a button that removes it.

import { accessToken } from "../../state/server/accessToken.ts";
import type { Session } from "../../state/server/session.ts";
import { Button } from "../ui/Button.tsx";

export function TokenSection({ session }: { session: Session }) {
  if (!accessToken.read()) return null;
  return (
    <section aria-label="Access token" className="grid gap-2 border-edge border-t px-4 py-4 text-small">
      <h3 className="font-semibold">Access token</h3>
      <p className="text-dim">
        {accessToken.isRemembered ? "Remembered on this browser." : "Stored until you close all tabs of this page."}
      </p>
      <Button look="outline" className="justify-self-start" onClick={() => session.forgetToken()}>
        Forget token
      </Button>
    </section>
  );
}
