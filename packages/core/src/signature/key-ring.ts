import { prepareKey } from '#hmac';
import type { HmacKey } from '../hmac/types.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { secretBytes } from './secret.ts';

/** A signing secret, `whsec_…`, with a name for it that may be logged. */
export interface NamedSecret {
  readonly id: string;
  readonly secret: string;
}

/** One secret, or several that are live at once (one for each action; old and new in a rotation). */
export type Secret = string | NamedSecret | readonly (string | NamedSecret)[];

/** A secret made ready for verifying. */
export interface Key {
  readonly id: string;
  readonly hmac: HmacKey;
}

const MAX_REMEMBERED = 64;
const remembered = new Map<string, HmacKey>();
/** The list for the secret that was asked for last: `verify` is called with the same one each time. */
let last: { secret: string; keys: readonly Key[] } | undefined;

/**
 * Decodes secrets and prepares their keys; the same text is prepared once in a process.
 * A secret without a name is called `secret-1`, `secret-2` and so on, by its place.
 * @throws WebhookError `invalid-secret`
 */
export function keysOf(secret: unknown): readonly Key[] {
  if (typeof secret !== 'string') return listOf(secret);
  if (last?.secret !== secret) last = { secret, keys: listOf(secret) };
  return last.keys;
}

function listOf(secret: unknown): readonly Key[] {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (list.length === 0)
    throw new WebhookError('invalid-secret', 'The list of signing secrets is empty.');
  return list.map((item, index) => {
    if (typeof item !== 'object' || item === null)
      return { id: `secret-${String(index + 1)}`, hmac: keyOf(item) };
    const { id, secret: text } = item as Partial<NamedSecret>;
    if (typeof id !== 'string' || id === '') {
      throw new WebhookError(
        'invalid-secret',
        'A named secret is { id, secret }, and its id is a text for the logs.',
      );
    }
    return { id, hmac: keyOf(text) };
  });
}

function keyOf(text: unknown): HmacKey {
  const known = typeof text === 'string' ? remembered.get(text) : undefined;
  if (known) return known;
  const key = prepareKey(secretBytes(text));
  // Bounded, for a provider that makes up a new secret for each call.
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(text as string, key);
  return key;
}
