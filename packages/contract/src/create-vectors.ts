import { createMaker, type Draft, type Group } from './group.ts';
import { bodyBytes, clock, events } from './groups/bodies-and-clock.ts';
import { duplicates, replays } from './groups/replays-and-duplicates.ts';
import { headers, secrets, signature } from './groups/signature-and-headers.ts';
import { createSource, type Source, type VectorOptions } from './source.ts';
import { type Vector, type VectorFile, VECTORS_VERSION } from './vector.ts';

const GROUPS = [signature, headers, clock, bodyBytes, secrets, replays, duplicates, events];

/**
 * Creates the test vectors for your own clock and secret, for a receiver whose clock cannot be set. The
 * published files were created with a fixed clock and seed.
 *
 * Use a new seed for each run, since a receiver remembers webhook ids and events. Skip vectors whose
 * `secrets` differ from yours. Deliveries whose `now` is a minute or more after yours test the passing
 * of time; with `retryAfter: 0`, there are two of them. Vectors with `exactClock` are for receivers
 * whose clock is set. With a real clock, skip all of these, and send the others within a minute after
 * `now`.
 * @throws RangeError if `now` is not at a whole second
 * @example
 * const now = Math.floor(Date.now() / 1000) * 1000;
 * const files = createVectors({ now, seed: crypto.randomUUID(), secret, retryAfter: 0 });
 */
export function createVectors(options: VectorOptions): VectorFile[] {
  const source = createSource(options);
  return GROUPS.map((group) => ({
    version: VECTORS_VERSION,
    name: group.name,
    title: group.title,
    license: 'MIT',
    vectors: draftsOf(group, source, options).map(signed),
  }));
}

/**
 * Creates one of the vectors that `createVectors` creates with the same options, without signing the
 * others, so that each vector can be signed just before it is sent.
 * @param id `clock/301-seconds-ago`
 * @throws RangeError if there is no vector with this id, or if `now` is not at a whole second
 */
export function createVector(id: string, options: VectorOptions): Vector {
  const source = createSource(options);
  const group = GROUPS.find(({ name }) => id.startsWith(`${name}/`));
  const draft = group && draftsOf(group, source, options).find((one) => one.id === id);
  if (!draft) throw new RangeError(`There is no vector with the id ${id}.`);
  return signed(draft);
}

const draftsOf = ({ name, vectors }: Group, source: Source, options: VectorOptions) =>
  vectors(createMaker(source, options, name));

const signed = ({ deliveries, ...draft }: Draft): Vector => ({
  ...draft,
  deliveries: deliveries(),
});
