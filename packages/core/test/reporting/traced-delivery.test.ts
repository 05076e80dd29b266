import diagnostics from 'node:diagnostics_channel';
import { expect, it } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
import type { DeliveryMessage } from '../../src/internal.ts';
import { STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

it('a delivery that deliver() refuses is published with the error of its caller', async () => {
  const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
  const { receiver } = createTenantsReceiver({ secret, on: { 'call:started': () => undefined } });
  const published: unknown[] = [];
  const channel = diagnostics.tracingChannel('call-webhooks:delivery');
  const listeners = {
    error: (message: unknown) => void published.push((message as DeliveryMessage).error),
  };
  channel.subscribe(listeners as never);
  try {
    const refusal: unknown = await receiver.deliver(STARTED).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid-options' });
    expect(published).toEqual([refusal]);
  } finally {
    channel.unsubscribe(listeners as never);
  }
});
