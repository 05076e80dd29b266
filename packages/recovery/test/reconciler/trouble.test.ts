import { describe, expect, it } from '@jest/globals';
import { memoryStore, type Store } from '@call-webhooks/core';
import { startWorld } from '../support/world.ts';
import { start } from './start.ts';

/** What a reconciler asks its store. */
const CALLS = ['loadCursor', 'admit', 'release'] as const;

/** A store one method of which fails so many times. */
function failing(store: Store, method: (typeof CALLS)[number], times: number): Store {
  let left = times;
  const works = store[method] as (...given: unknown[]) => Promise<unknown>;
  const call = (...given: unknown[]) =>
    left-- > 0 ? Promise.reject(new Error('connection refused')) : works(...given);
  return { ...store, rememberFor: 86_400_000, [method]: call };
}

describe.each([undefined, 'acme'])('the log of a reconciler (tenant: %s)', (tenant) => {
  const options = tenant === undefined ? {} : { tenant };
  const of = tenant === undefined ? expect.not.objectContaining({ tenant: 'acme' }) : { tenant };
  const withTenant =
    tenant === undefined ? {} : { receiver: { tenant: () => tenant, secret: () => undefined } };

  it.each(CALLS)('has one line when %s() of the store fails several times', async (method) => {
    const world = await startWorld(withTenant);
    const store = failing(memoryStore({ now: world.now }), method, 3);
    const { clock, results, errors } = await start(world, { store, ...options });
    await clock.advance(20);
    expect(results.length).toBeGreaterThanOrEqual(1);
    expect(errors).toEqual([]);
    const [line, ...more] = world.log.entries;
    expect(more).toEqual([]);
    expect(line).toMatchObject({ level: 'warn', fields: of });
    expect(line!.message).toContain(
      'a call of the store failed during a reconcile run and will be retried: Error: connection refused',
    );
  });

  it('says which run failed', async () => {
    const world = await startWorld({ ...withTenant, client: { retries: 0 } });
    const calls = { ...world.client.calls, list: () => Promise.reject(new Error('no route')) };
    const { clock, errors } = await start(world, {
      ...{ client: { ...world.client, calls }, ...options },
    });
    await clock.advance(20);
    expect(errors.length).toBeGreaterThanOrEqual(1);
    expect(world.log.entries[0]).toMatchObject({ level: 'error', fields: of });
    expect(world.log.entries[0]!.message).toContain('no route');
  });

  it('says what was missed, and what failed', async () => {
    const world = await startWorld(withTenant);
    const { simulator, ruleId, failing: broken, log } = world;
    const { clock, reports } = await start(world, options);
    simulator.rules.pause(ruleId);
    const [one = ''] = await world.place(2);
    broken.add(one);
    await clock.advance(30);
    expect(reports).toMatchObject([{ missed: 2 }]);
    for (const counted of ['missed', 'failed'])
      expect(log.entries.find(({ fields }) => fields[counted] !== undefined)).toMatchObject({
        fields: { ...(tenant !== undefined && { tenant }) },
      });
  });
});
