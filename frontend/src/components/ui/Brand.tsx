// The logo.
export function Brand() {
  return (
    <svg
      viewBox="0 0 20 20"
      className="size-5 fill-ground stroke-2 stroke-accent [stroke-linecap:round]"
      aria-hidden="true"
    >
      <path d="M5 2v16" />
      <circle cx="5" cy="6" r="2.75" />
      <circle cx="5" cy="14" r="2.75" />
      <path d="M10.5 6H17m-6.5 8H15" />
    </svg>
  );
}
