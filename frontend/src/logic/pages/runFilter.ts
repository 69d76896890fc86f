// The filter of the run list: as the query of the page's address, and as parameters of requests.

/** The fields that are sent to the server as they are. */
const SENT = ["status", "code", "model", "loop", "protocol", "owner", "tool", "since", "until", "q"] as const;
const FIELDS = [...SENT, "period"] as const;

export type FilterField = (typeof FIELDS)[number];

/** A missing field matches all runs. An empty `owner` matches the runs without an API token. */
export type RunFilter = Readonly<Partial<Record<FilterField, string>>>;

const HOUR_S = 3600;

/** The times that end now, with the bucket of their charts in seconds. */
export const PERIODS = [
  { value: "1h", words: "Last hour", seconds: HOUR_S, bucket: 120 },
  { value: "24h", words: "Last 24 hours", seconds: 24 * HOUR_S, bucket: HOUR_S },
  { value: "7d", words: "Last 7 days", seconds: 7 * 24 * HOUR_S, bucket: 6 * HOUR_S },
  { value: "30d", words: "Last 30 days", seconds: 30 * 24 * HOUR_S, bucket: 24 * HOUR_S },
] as const;

const mayBeEmpty = (field: FilterField): boolean => field === "owner";

/** Read the filter from the query of an address, and ignore other fields. */
export function readFilter(search: string): RunFilter {
  const query = new URLSearchParams(search);
  return FIELDS.reduce<RunFilter>((filter, field) => withField(filter, field, query.get(field) ?? undefined), {});
}

/** "?status=error&loop=v2", or nothing. */
export function filterQuery(filter: RunFilter): string {
  const query = new URLSearchParams(filter as Record<string, string>).toString();
  return query ? `?${query}` : "";
}

/** Set a field, or remove it. A period and a beginning exclude each other. */
export function withField(filter: RunFilter, field: FilterField, value: string | undefined): RunFilter {
  const { [field]: _, ...others } = filter;
  return value === undefined || (value === "" && !mayBeEmpty(field)) ? others : { ...others, [field]: value };
}

export const isFiltered = (filter: RunFilter): boolean => Object.keys(filter).length > 0;

/** The parameters of a request. `now` is in epoch milliseconds. */
export function filterParameters(filter: RunFilter, now: number): readonly (readonly [string, string])[] {
  const sent = SENT.flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : [[field, isTime(field) ? utcOf(value) : value] as const];
  });
  const period = PERIODS.find(({ value }) => value === filter.period);
  return period ? [...sent, ["since", String(Math.floor(now / 1000) - period.seconds)]] : sent;
}

const isTime = (field: FilterField): boolean => field === "since" || field === "until";

/** The fields of the page have local times. What is no time is left to the server, which says so. */
function utcOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}
