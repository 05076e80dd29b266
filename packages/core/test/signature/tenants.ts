import { jest } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
import { delivery, OTHER_SECRET } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

/** An event without a key, so that each is handled. */
export const EVENT = { eventName: 'call:completed' };
const isReal = (tenant: string) => tenant.startsWith('real-');
export const real: SecretProvider = ({ tenant }) => (isReal(tenant) ? secretOf(tenant) : undefined);
export const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);

/** A receiver with tenants, and what its provider was asked. */
export function tenants(provider: SecretProvider = real) {
  const asked = jest.fn<SecretProvider>(provider);
  const created = createTenantsReceiver({ secret: asked, onUnhandled: () => undefined });
  return {
    asked,
    ...created,
    /** Sends one forged request to the paths of all of them, and gives the outcomes. */
    async flood(all: readonly string[]): Promise<Set<string>> {
      const forged = await delivery(EVENT, { secret: OTHER_SECRET });
      const send = (name: string) => created.receiver.receive({ ...forged, url: `/hooks/${name}` });
      const responses = await Promise.all(all.map(send));
      return new Set(responses.map(({ outcome }) => outcome.outcome));
    },
  };
}
