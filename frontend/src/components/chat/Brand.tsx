// The sign and the name.

export function Brand() {
  return (
    <span className="flex items-center gap-2 font-semibold text-small">
      <svg
        viewBox="0 0 20 20"
        aria-hidden="true"
        className="size-5 fill-ground stroke-2 stroke-accent [stroke-linecap:round]"
      >
        <path d="M5 2v16" />
        <circle cx="5" cy="6" r="2.75" />
        <circle cx="5" cy="14" r="2.75" />
        <path d="M10.5 6H17m-6.5 8H15" />
      </svg>
      Signalbox
    </span>
  );
}
