import { jest } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
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
  return { asked, ...createTenantsReceiver({ secret: asked }) };
}
