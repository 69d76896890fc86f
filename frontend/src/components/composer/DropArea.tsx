// Covers the page while files are dragged over it, and says what dropping them does.
import { ImagePlus } from "lucide-react";
import { useFileDrop } from "../../hooks/attachImages.ts";
import type { PictureRule } from "../../state/pictureTypes.ts";

export function DropArea({ rule, onFiles }: { rule: PictureRule; onFiles: (files: readonly File[]) => void }) {
  const over = useFileDrop(onFiles);
  if (!over) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 grid place-items-center bg-veil p-6" data-part="drop-area">
      <p className="flex items-center gap-3 rounded-md border-2 border-accent border-dashed bg-raised px-8 py-6 shadow-over">
        <ImagePlus aria-hidden="true" className="size-4 shrink-0 text-accent" />
        {rule.allowed ? "Drop images here to add them to your message." : rule.reason}
      </p>
    </div>
  );
}
