import { createMaker, type Group } from './group.ts';
import { bodyBytes } from './groups/body-bytes.ts';
import { clock } from './groups/clock.ts';
import { duplicates } from './groups/duplicates.ts';
import { events } from './groups/events.ts';
import { headers } from './groups/headers.ts';
import { replays } from './groups/replays.ts';
import { secrets } from './groups/secrets.ts';
import { signature } from './groups/signature.ts';
import { createSource, type VectorOptions } from './source.ts';
import { VECTORS_VERSION, type VectorFile } from './vector.ts';

const GROUPS: readonly Group[] = [
  signature,
  headers,
  clock,
  bodyBytes,
  secrets,
  replays,
  duplicates,
  events,
];

/**
 * Makes the test vectors for a clock and a secret of your own, for a receiver whose clock cannot be
 * set. The published files are made with a fixed clock and seed.
 *
 * Take a new seed for each run, since a receiver remembers webhook ids and events. Vectors whose
 * `secrets` are not yours are about other secrets: skip them. Deliveries with another `now` than
 * yours are about the passing of time. Vectors with `exactClock` are for receivers whose clock is
 * set. With a real clock, skip all of these, and send the others within a minute after `now`.
 * @throws RangeError if `now` is not at a whole second
 * @example
 * const now = Math.floor(Date.now() / 1000) * 1000;
 * const files = createVectors({ now, seed: crypto.randomUUID(), secret });
 */
export function createVectors(options: VectorOptions): VectorFile[] {
  const source = createSource(options);
  return GROUPS.map(({ name, title, vectors }) => ({
    version: VECTORS_VERSION,
    name,
    title,
    license: 'MIT',
    vectors: vectors(createMaker(source, name)),
  }));
}
