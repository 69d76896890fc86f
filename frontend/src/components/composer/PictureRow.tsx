// A row of thumbnails. Each opens in full size, and can be removed before the message is sent.
import { X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { retried } from "../../state/retriedLoad.ts";
import type { Picture } from "../../types/api.ts";

const PictureDialog = lazy(() => retried(() => import("./PictureDialog.tsx")));

interface Props {
  pictures: readonly Picture[];
  size?: "small" | "large";
  onRemove?: (id: string) => void;
}

const SIZES = { small: "size-16", large: "size-28" } as const;

export function PictureRow({ pictures, size = "small", onRemove }: Props) {
  const [shown, setShown] = useState<Picture>();
  const [open, setOpen] = useState(false);
  if (pictures.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 narrow:gap-4" aria-label="Images">
      {pictures.map((picture) => (
        <li key={picture.id} className="relative" data-part="picture">
          <button
            type="button"
            className={`block cursor-zoom-in overflow-hidden rounded-sm border border-edge bg-sunken hover:border-edge-strong ${SIZES[size]}`}
            aria-label={`Open ${picture.name}`}
            title={picture.name}
            onClick={() => {
              setShown(picture);
              setOpen(true);
            }}
          >
            <img src={picture.url} alt={picture.name} className="size-full object-cover" />
          </button>
          {onRemove && (
            <button
              type="button"
              className="absolute -top-2 -end-2 grid size-6 cursor-pointer place-items-center rounded-full border border-edge bg-raised text-dim after:absolute after:-inset-1.5 hover:border-edge-strong hover:text-ink"
              aria-label={`Remove ${picture.name}`}
              onClick={() => onRemove(picture.id)}
            >
              <X aria-hidden="true" className="size-3.5" />
            </button>
          )}
          {onRemove && (
            <p dir="auto" className="mt-0.5 w-16 truncate text-dim text-tiny">
              {picture.name}
            </p>
          )}
        </li>
      ))}
      {shown && (
        <Suspense>
          <PictureDialog picture={shown} open={open} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </ul>
  );
}
