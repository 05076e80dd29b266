import { notify, notifyError } from '@call-webhooks/ui';
import type { Delivery, DeliveryView } from '@call-webhooks/simulator/control-api';
import { callApi, queryOf, type Filter } from './api.ts';
import { shortUrl } from './labels.ts';
import { store } from './store.ts';

/** Shows the deliveries that match. */
export function filterBy(filter: Filter): void {
  store.setFilter(filter);
  store.show('deliveries');
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
  store.select(undefined, 'replace'); // Back would only lead here again
  notifyError('This delivery no longer exists.');
}

/** The delivery before or after the selected one; the newest when none is selected. */
export function neighbour(step: 1 | -1): string | undefined {
  const { deliveries, selected } = store;
  const at = deliveries.findIndex(({ _id }) => _id === selected);
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
  const { url } = await callApi<DeliveryView>('GET', `/deliveries/${_id}`);
  notify(`Sent again as #${String(number)}${url === undefined ? '' : ` to ${shortUrl(url)}`}.`);
  store.select(_id);
}

/** Sends all deliveries again that failed and match the filters. @throws ApiError */
export async function resendFailed(): Promise<void> {
  const path = `/deliveries/resend-failed?${queryOf(store.filter)}`;
  const { resent } = await callApi<{ resent: number }>('POST', path);
  notify(resent === 1 ? '1 delivery sent again.' : `${String(resent)} deliveries sent again.`);
}

/** Who was called, for a delivery or for a call that is filtered by. */
export function callName(callId: string, named?: string): string {
  if (callId === '') return 'no call';
  const call = store.call(callId);
  const known = () => store.deliveries.find((one) => one.callId === callId)?.callName;
  return named ?? call?.calledName ?? call?.calledNumber ?? known() ?? `unknown (${callId})`;
}
