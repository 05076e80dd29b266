import { expect, test } from '@jest/globals';
import { inTurn, settled } from '../../src/rules/in-turn.ts';

test('one task at a time for the same store, also after one that failed', async () => {
  const store = {};
  const log: string[] = [];
  const task = (name: string) => async (): Promise<string> => {
    log.push(`${name} starts`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === 'b') throw new Error(name);
    return name;
  };
  const results = await Promise.allSettled([
    inTurn(store, task('a')),
    inTurn(store, task('b')),
    inTurn(store, task('c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('settled waits for the tasks that run, and those that join them', async () => {
  const store = {};
  let done = 0;
  const finish = async (): Promise<void> => void done++;
  void inTurn(store, async () => {
    void inTurn(store, finish);
    await finish();
  });
  await settled(store);
  expect(done).toBe(2);
  await settled({});
});
