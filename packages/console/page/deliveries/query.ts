import { changeUrl } from '@call-webhooks/ui';
import type { DeliveriesQuery } from '../../src/api-types.ts';

/** The filters that are in the address of the page. */
export const FILTERS = [
  'text',
  'outcome',
  'result',
  'source',
  'event',
  'call',
  'tenant',
] as const satisfies readonly (keyof DeliveriesQuery)[];

type Filter = (typeof FILTERS)[number];

/** The query of the list, as the address of the page has it. */
export function queryOf(url: URLSearchParams): Readonly<Record<string, string>> {
  const names = [...FILTERS, 'before'];
  return Object.fromEntries(names.map((name) => [name, url.get(name) ?? '']));
}

/** Filters anew, from the first page on. */
export function filterBy(
  changes: Readonly<Partial<Record<Filter, string>>>,
  how?: 'replace',
): void {
  changeUrl({ ...changes, before: undefined, delivery: undefined }, how);
}
