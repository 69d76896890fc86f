// The number of failed calls in a burst, in red until the user has opened the panel (quirk H5).
interface Props {
  failed: number;
  of: number;
  touched: boolean;
}

export function FailedCalls({ failed, of, touched }: Props) {
  if (failed === 0) return null;
  return (
    <span className={touched ? "text-dim" : "text-red-ink"}>
      {" · "}
      <span className="whitespace-nowrap">{failed === of ? "failed" : `${failed} failed`}</span>
    </span>
  );
}
