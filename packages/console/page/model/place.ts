import { changeUrl, useUrl } from '@call-webhooks/ui';

export const VIEWS = [
  ['now', 'Now'],
  ['deliveries', 'Deliveries'],
  ['dead-letters', 'Dead letters'],
  ['reconcile', 'Reconcile'],
] as const;

export type View = (typeof VIEWS)[number][0];

/** The view that the address of the page names. */
export function useView(): View {
  const name = useUrl().get('view');
  return VIEWS.find(([view]) => view === name)?.[0] ?? 'now';
}

/** The address of a view. @param query its filters, by name */
export function hrefOf(view: View, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams({ ...(view !== 'now' && { view }), ...query }).toString();
  return text === '' ? location.pathname : `?${text}`;
}

/** The filters of a list that are in the address of the page. */
export const filtersIn = (
  url: URLSearchParams,
  names: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (url.get(name) ? [[name, url.get(name) ?? '']] : [])));

/** Filters anew, from the first page on and without a detail. */
export function filterBy(
  changes: Readonly<Record<string, string | undefined>>,
  how?: 'replace',
): void {
  const rest = { before: undefined, offset: undefined, delivery: undefined, letter: undefined };
  changeUrl({ ...rest, ...changes }, how);
}
