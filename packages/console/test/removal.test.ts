import { describe, expect, it } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import type { DeadLettersPage, Tasks } from '../src/api-types.ts';
import { callBody, codeOf, failing, NOW, open, type Options } from './support.ts';

async function withLetters(calls: readonly string[], options: Options = {}) {
  const opened = open({ receiving: { on: failing, maxAttempts: 1 }, ...options });
  for (const call of calls) await opened.deliver(callBody(call));
  const left = async () =>
    (await opened.deadLetters.list()).letters.map(({ callId }) => callId).sort();
  const idOf = async (call: string) =>
    (await opened.deadLetters.list()).letters.find(({ callId }) => callId === call)?.id ?? '';
  const remove = async (body: object) =>
    (await opened.post<Tasks>('/api/remove', { waitMs: 20_000, ...body })).removal;
  return { ...opened, left, idOf, remove };
}

describe('api/remove', () => {
  it('removes those that are named, and tells how many there were', async () => {
    const { remove, idOf, left, logger } = await withLetters(['c1', 'c2', 'c3']);
    expect(await remove({ ids: [await idOf('c1'), 'gone'] })).toMatchObject({
      ...{ by: 'Ada', state: 'done', total: 2, counts: { removed: 1, notFound: 1 } },
    });
    expect(await left()).toEqual(['c2', 'c3']);
    expect(logger.entries.at(-1)).toMatchObject({
      fields: { action: 'remove', by: 'Ada', letters: 2 },
      message: 'call-webhooks: console: Ada started to remove dead letters',
    });
  });

  it('removes those of a cause, those that match, and all', async () => {
    const { remove, left, get, logger } = await withLetters(['c1', 'c2', 'c3', 'c4']);
    expect(await remove({ filter: { text: 'c2:call' } })).toMatchObject({ counts: { removed: 1 } });
    expect(await left()).toEqual(['c1', 'c3', 'c4']);
    const { causes } = await get<DeadLettersPage>('/api/dead-letters');
    const cause = causes[0]?.id ?? '';
    expect(await remove({ filter: { cause, text: 'c1:call' } })).toMatchObject({
      ...{ cause: causes[0]?.text, counts: { removed: 1 } },
    });
    expect(logger.lines.at(-1)).toContain(
      `started to remove dead letters with the cause “${causes[0]?.text ?? ''}”`,
    );
    expect(await remove({ all: true })).toMatchObject({ total: 2, counts: { removed: 2 } });
    expect(await left()).toEqual([]);
    expect(await get('/api/dead-letters')).toMatchObject({ total: 0 });
  });

  it('is stopped, and the rest stays', async () => {
    const opened = await withLetters(Array.from({ length: 20 }, (_, at) => `c${String(at)}`));
    const { deadLetters, post, left } = opened;
    const [held, reached] = [deferred(), deferred()];
    const { remove } = deadLetters;
    deadLetters.remove = async (id) => {
      reached.resolve();
      await held.promise;
      return remove(id);
    };
    await post('/api/remove', { all: true });
    await reached.promise;
    const stopping = await post<Tasks>('/api/remove/stop');
    expect(stopping.removal).toMatchObject({ state: 'running', total: 20 });
    held.resolve();
    const ended = async () => (await opened.get<Tasks>('/api/tasks')).removal?.state;
    while ((await ended()) === 'running') await new Promise((next) => setImmediate(next));
    expect(await ended()).toBe('stopped');
    expect((await left()).length).toBe(12); // eight at once
  });

  it('counts how often a store failed, logs it, and removes the letter in the end', async () => {
    let now = NOW;
    const { deadLetters, remove, left, logger } = await withLetters(['c1', 'c2'], {
      // Pauses between attempts end at once.
      clock: {
        now: () => now,
        schedule(delay, run) {
          const timer = setImmediate(() => {
            now += delay;
            run();
          });
          return () => clearImmediate(timer);
        },
      },
    });
    const works = deadLetters.remove;
    let failures = 3;
    deadLetters.remove = (id) =>
      failures-- > 0 ? Promise.reject(new Error('timeout')) : works(id);
    expect(await remove({ all: true })).toMatchObject({
      ...{ state: 'done', retries: 3, total: 2, counts: { removed: 2, notFound: 0 } },
    });
    expect(await left()).toEqual([]);
    expect(logger.lines.filter((line) => line.includes('will be retried in'))).toHaveLength(3);
  });

  it('and a redrive do not run at the same time', async () => {
    const { deadLetters, post, send } = await withLetters(['c1']);
    const held = deferred();
    const { remove } = deadLetters;
    deadLetters.remove = (id) => held.promise.then(() => remove(id));
    await post('/api/remove', { all: true });
    const refused = await send('/api/redrive', { all: true });
    expect([refused.status, await codeOf(refused)]).toEqual([409, 'already-running']);
    held.resolve();
  });

  it('is refused to those who may only read', async () => {
    const { send, left } = await withLetters(['c1'], {
      authorize: () => ({ name: 'Bob', canWrite: false }),
    });
    expect((await send('/api/remove', { all: true })).status).toBe(403);
    expect(await left()).toEqual(['c1']);
  });
});
