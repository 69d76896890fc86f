// Switches between the versions of a message or an answer: ‹ 2/3 ›.
import { PagerButtons } from "../ui/PagerButtons.tsx";

interface Props {
  /** Zero-based. */
  index: number;
  count: number;
  onPrevious: () => void;
  onNext: () => void;
  /** What has versions: "message", "answer". */
  label: string;
}

export function BranchSwitch({ index, count, onPrevious, onNext, label }: Props) {
  if (count < 2) return null;
  const onGo = (next: number) => (next < index ? onPrevious() : onNext());
  return <PagerButtons {...{ index, count, onGo }} label={`Versions of the ${label}`} one="version" part="branches" />;
}
