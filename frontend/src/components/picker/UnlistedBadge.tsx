// Marks a selected model that is not in the server's list. The button's label says the same to a screen reader.
import { TriangleAlert } from "lucide-react";

export const UnlistedBadge = () => (
  <span
    aria-hidden="true"
    title="Not in the model list. It may no longer be available."
    className="inline-flex shrink-0 items-center gap-1 rounded-full bg-amber-wash px-1.5 text-ink text-tiny"
    data-part="unlisted"
  >
    <TriangleAlert className="size-3" />
    <span className="narrow:hidden">Not listed</span>
  </span>
);
