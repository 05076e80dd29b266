import { expect, test } from '@jest/globals';
import { verify, sign } from '@call-webhooks/core';
import { SeededRandom } from '../src/seeded-random.ts';

test('a draw depends on the seed, the run and its purpose, and on nothing else', () => {
  const one = new SeededRandom('seed');
  const other = new SeededRandom('seed');
  other.fraction('something', 'else');
  expect(one.fraction('jitter', 'a', 1)).toBe(other.fraction('jitter', 'a', 1));
  expect(one.fraction('jitter', 'a', 1)).not.toBe(one.fraction('jitter', 'a', 2));
  expect(one.id('call', 1)).not.toBe(new SeededRandom('tree').id('call', 1));
  other.run++;
  expect(one.id('call', 1)).not.toBe(other.id('call', 1));
});

test('random are spread evenly', () => {
  const random = new SeededRandom('even');
  const hits = Array.from({ length: 2_000 }, (_, n) => random.chance(0.25, 'hit', n)).filter(
    Boolean,
  );
  expect(hits.length).toBeGreaterThan(400);
  expect(hits.length).toBeLessThan(600);
  const faces = new Set(Array.from({ length: 200 }, (_, n) => random.whole(1, 6, 'die', n)));
  expect([...faces].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(random.chance(0, 'never')).toBe(false);
  expect(random.chance(1, 'always')).toBe(true);
});

test('ids, UUIDs and secrets look like those of the service', async () => {
  const random = new SeededRandom('looks');
  expect(random.id('call', 1)).toMatch(/^[0-9a-f]{24}$/);
  expect(random.uuid('a', 1)).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const secret = random.secret('action', 1);
  const headers = await sign({ secret, body: '{}' });
  await verify({ headers, body: Buffer.from('{}') }, { secret });
});
