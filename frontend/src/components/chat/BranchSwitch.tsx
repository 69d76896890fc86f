// Goes between the versions of a question or an answer: ‹ 2/3 ›.
import { PlaceSwitch } from "../ui/PagerButtons.tsx";

interface Props {
  /** From 0. */
  index: number;
  count: number;
  onPrevious: () => void;
  onNext: () => void;
  /** Versions of what: "question", "answer". */
  label: string;
}

export function BranchSwitch({ index, count, onPrevious, onNext, label }: Props) {
  if (count < 2) return null;
  const onGo = (next: number) => (next < index ? onPrevious() : onNext());
  return <PlaceSwitch {...{ index, count, onGo }} label={`Versions of the ${label}`} one="version" part="branches" />;
}
