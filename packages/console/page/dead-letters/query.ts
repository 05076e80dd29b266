import { changeUrl } from '@call-webhooks/ui';

/** The filters that are in the address of the page. `since` and `until` are local times there. */
export const FILTERS = ['event', 'reason', 'tenant', 'since', 'until'] as const;

type Filter = (typeof FILTERS)[number];

/** A local time of an input, as milliseconds since the epoch. */
function millisecondsOf(text: string | null): number | undefined {
  const time = text === null ? NaN : new Date(text).getTime();
  return Number.isNaN(time) ? undefined : time;
}

/** What the address of the page asks for. */
export interface LetterFilter {
  readonly event?: string;
  readonly reason?: string;
  readonly tenant?: string;
  readonly since?: number;
  readonly until?: number;
}

export function filterOf(url: URLSearchParams): LetterFilter {
  const [event, reason, tenant] = [url.get('event'), url.get('reason'), url.get('tenant')];
  const since = millisecondsOf(url.get('since'));
  const until = millisecondsOf(url.get('until'));
  return {
    ...(event && { event }),
    ...(reason && { reason }),
    ...(tenant && { tenant }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

/** Filters anew, from the first page on. */
export function filterBy(changes: Readonly<Partial<Record<Filter, string>>>): void {
  changeUrl({ ...changes, cursor: undefined, letter: undefined });
}
