// Shows one image as large as the window allows.
import type { Picture } from "../../types/api.ts";
import { Dialog } from "../ui/Dialog.tsx";

export default function PictureDialog({
  picture,
  open,
  onClose,
}: {
  picture: Picture;
  open: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={picture.name} place="fitted">
      <img src={picture.url} alt={picture.name} className="min-h-0 object-contain p-4 pt-2" />
    </Dialog>
  );
}
