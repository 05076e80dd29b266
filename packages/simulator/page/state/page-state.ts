import { changeUrl, notify, notifyError } from '@call-webhooks/ui';
import type { Delivery } from '@call-webhooks/simulator/control-api';
import { callApi, fetchDelivery, queryOf } from './api.ts';
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

/** Closes the details of a delivery that the simulator does not have, and takes it out of the address. */
export function closeGone(): void {
  changeUrl({ delivery: undefined }, 'replace'); // Back would only lead here again
  store.select(undefined);
  notifyError('This delivery no longer exists.');
}

/** The delivery before or after the selected one; the newest when none is selected. */
export function neighbour(step: 1 | -1): string | undefined {
  const deliveries = store.deliveries.list();
  const at = deliveries.findIndex(({ _id }) => _id === store.selected);
  return deliveries[at < 0 ? 0 : at + step]?._id;
}

/**
 * Sends the event of a delivery again and shows the new delivery.
 * @param body another body, as JSON text
 * @throws ApiError
 */
export async function resend(id: string, body?: string): Promise<void> {
  const edited = body === undefined ? undefined : { body };
  const { _id, number } = await callApi<Delivery>('POST', `/deliveries/${id}/resend`, edited);
  const { url } = await fetchDelivery(_id);
  notify(`Sent again as #${String(number)}${url === undefined ? '' : ` to ${shortUrl(url)}`}.`);
  store.select(_id);
}

/** Sends all deliveries again that failed and match the filters. @throws ApiError */
export async function resendFailed(): Promise<void> {
  const { before: _, after: _after, ...filter } = store.filter;
  const path = `/deliveries/resend-failed?${queryOf(filter)}`;
  const { resent } = await callApi<{ resent: number }>('POST', path);
  notify(resent === 1 ? '1 delivery sent again.' : `${String(resent)} deliveries sent again.`);
}

/** Who was called, for a delivery or for a call that is filtered by. */
export function callName(callId: string, named?: string): string {
  if (callId === '') return 'no call';
  const call = store.call(callId);
  const known = () => store.deliveries.list().find((one) => one.callId === callId)?.callName;
  return named ?? call?.calledName ?? call?.calledNumber ?? known() ?? `unknown (${callId})`;
}
