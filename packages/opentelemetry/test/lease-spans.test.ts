import { afterEach, expect, it } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import { idOf, parentOf, receiverOf, startSdk, type Sdk } from './sdk.ts';

let sdk: Sdk;
afterEach(() => sdk.close());

it('the span of each renewal of a lease is in the span of its own delivery', async () => {
  sdk = startSdk();
  const go = deferred();
  // All deliveries share one timer, which runs in the context of whoever set it.
  const { send } = receiverOf({ leaseFor: 900, on: { 'call:started': () => go.promise } });
  const key = 'call_webhooks.key';
  // Channels belong to the process: a handler of another test file may still be running in it.
  const calls = ['renewed-1', 'renewed-2', 'renewed-3'];
  const isOurs = (span: ReturnType<Sdk['spans']>[number]) =>
    String(span.attributes[key]).startsWith('renewed-');
  const sent = calls.map((callId) => send({ eventName: 'call:started', callId }));
  const renewals = () => sdk.spans().filter((span) => span.name === 'store extend' && isOurs(span));
  await waitFor(() => renewals().length >= 6);
  go.resolve();
  await Promise.all(sent);
  const deliveries = sdk.spans().filter(({ name }) => name === 'receive call:started');
  const parents = renewals().map((span) => [
    span.attributes[key],
    deliveries.find((delivery) => idOf(delivery) === parentOf(span))?.attributes[key],
  ]);
  expect(parents.filter(([own, parent]) => own !== parent)).toEqual([]);
});
