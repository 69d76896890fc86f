// The button in the header that opens the panel with files.
import { FileCode } from "lucide-react";
import { Button } from "../ui/Button.tsx";

export function FilesButton({ isOpen, onOpen }: { isOpen: boolean; onOpen: (open: boolean) => void }) {
  return (
    <Button aria-label="Files" aria-pressed={isOpen} onClick={() => onOpen(!isOpen)}>
      <FileCode aria-hidden="true" />
      <span className="@max-2xl/main:hidden">Files</span>
    </Button>
  );
}
