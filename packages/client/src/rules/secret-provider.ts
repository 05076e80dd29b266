import { settled } from './in-turn.ts';
import { liveSecrets, type SecretStore } from './secret-store.ts';

/** A secret as a receiver takes it. */
export interface ProvidedSecret {
  readonly id: string;
  readonly secret: string;
}

/** What a receiver's `secret` option accepts as a provider. */
export type SecretProvider = (request?: {
  readonly refresh?: boolean;
}) => Promise<ProvidedSecret[]>;

/**
 * Makes the provider for a receiver's `secret` option: the live secrets of the store. When the
 * receiver asks with `refresh: true` (a signature matched none), a `rotateInto` of this process
 * that is between "rotated" and "saved" is waited for, so that its deliveries verify.
 *
 * @param options.now the wall clock in milliseconds; default `Date.now`
 * @throws what `store.load` throws
 */
export function secretsFrom(
  store: SecretStore,
  options: { readonly now?: () => number } = {},
): SecretProvider {
  const now = options.now ?? Date.now;
  return async (request) => {
    if (request?.refresh === true) await settled(store);
    const secrets = liveSecrets(await store.load(), now());
    return secrets.map(({ id, secret }) => ({ id, secret }));
  };
}
