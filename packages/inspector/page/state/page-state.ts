import { notify } from '@call-webhooks/ui';
import type { Delivery } from '@call-webhooks/simulator/control-api';
import { callApi, fetchDelivery } from './api.ts';
import { keepAddress } from './address.ts';
import type { Filter } from './delivery-window.ts';
import { Live } from './live.ts';
import { shortUrl } from './receiver.ts';
import { Store } from './store.ts';

/** The state of the page. Every component reads it; the root renders again when it changes. */
export const store = new Store();
export const live = new Live(store);
keepAddress(store, () => void live.sync());

/** The simulator's time, in milliseconds since the epoch. */
export const now = (): number => store.now();

/** Shows the deliveries that match. */
export function filterBy(filter: Filter): void {
  store.setFilter(filter);
  store.show('deliveries');
  void live.sync();
}

/** Selects a delivery and moves the focus to its row; `undefined` closes the details. */
export function choose(id: string | undefined): void {
  const before = store.selected;
  store.select(id);
  const row = document.querySelector<HTMLElement>(`.delivery[data-id="${id ?? before ?? ''}"]`);
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

/** The delivery before or after the selected one; the newest when none is selected. */
export function neighbour(step: 1 | -1): string | undefined {
  const deliveries = store.deliveries.list();
  const at = deliveries.findIndex(({ _id }) => _id === store.selected);
  return deliveries[at < 0 ? 0 : at + step]?._id;
}

/** Sends the event of a delivery again and shows the new delivery. @throws ApiError */
export async function resend(id: string): Promise<void> {
  const { _id, number } = await callApi<Delivery>('POST', `/deliveries/${id}/resend`);
  const { url } = await fetchDelivery(_id);
  notify(`Sent again as #${String(number)}${url === undefined ? '' : ` to ${shortUrl(url)}`}.`);
  store.select(_id);
}

/** The name or number of the person called; the id of a call that is not loaded. */
export function callName(callId: string): string {
  const call = store.call(callId);
  return call?.calledName ?? call?.calledNumber ?? callId;
}
