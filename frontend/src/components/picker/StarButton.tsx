// A button that stars the active row: the content of a list box cannot be reached by keyboard.
import { Star } from "lucide-react";
import { shortName } from "../../logic/models/modelNames.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";

interface Props {
  model: Model | undefined;
  id: string;
  starred: readonly string[];
  onStar: (id: string) => void;
}

export function StarButton({ model, id, starred, onStar }: Props) {
  const isStarred = starred.includes(id);
  return (
    <Button
      aria-keyshortcuts="Control+D"
      title="Ctrl D"
      className="min-w-0 shrink! text-tiny"
      aria-pressed={isStarred}
      onClick={() => onStar(id)}
    >
      <Star aria-hidden="true" className={isStarred ? "fill-current text-lamp-running" : ""} />
      <span className="truncate">
        Star <span className="sr-only">{model ? shortName(model) : id}</span>
      </span>
    </Button>
  );
}
