import { environmentError } from '../errors.ts';

const FIX =
  'It has to return [{ "key": "<callId>:<eventName>", "count": 1 }]. See docs/conformance.md.';

/**
 * Reads how often the effect of each event took place.
 * @throws CliError 3 when the URL does not report effects
 */
export async function readEffects(
  url: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  let list: unknown;
  try {
    const response = await fetch(url, { redirect: 'error', signal: within });
    list = response.ok ? await response.json() : undefined;
  } catch {
    signal.throwIfAborted();
  }
  if (!Array.isArray(list)) throw environmentError(`${url} does not report effects.`, FIX);
  return new Map(list.map(entryOf));
}

function entryOf(entry: unknown): [string, number] {
  const { key, count } = (entry ?? {}) as { key?: unknown; count?: unknown };
  if (typeof key === 'string' && typeof count === 'number') return [key, count];
  throw environmentError('The list of effects has an entry without key or count.', FIX);
}
