import { useUrl } from '@call-webhooks/ui';

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
