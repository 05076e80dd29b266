import { describe, expect, it } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { memoryStore, type Store } from '@call-webhooks/core';
import { startWorld } from '../support/world.ts';
import { start } from './start.ts';

/** What a reconciler asks its store. */
const CALLS = ['loadCursor', 'saveCursor', 'admit', 'release'] as const;

/** A store one method of which has a failure as often as there is one left. */
function withFailures(
  store: Store,
  method: (typeof CALLS)[number],
  failures: (() => Promise<unknown>)[],
): Store {
  const works = store[method] as (...given: unknown[]) => Promise<unknown>;
  const call = (...given: unknown[]) => (failures.pop() ?? (() => works(...given)))();
  return { ...store, rememberFor: 86_400_000, [method]: call };
}

const refused = () => Promise.reject(new Error('connection refused'));
const noAnswer = () => new Promise<never>(() => undefined);

it.each(CALLS)('a run goes on when %s() of the store does not respond', async (method) => {
  const world = await startWorld();
  const failures: (() => Promise<unknown>)[] = [];
  const store = withFailures(memoryStore({ now: world.now }), method, failures);
  const { clock, results, errors } = await start(world, { store });
  await clock.advance(14);
  failures.push(noAnswer);
  const { entries } = world.log;
  await waitFor(async () => {
    await clock.fire(1 / 12);
    return results.length > 0 && entries.length > 0;
  });
  expect(errors).toEqual([]);
  expect(entries.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringContaining(`${method}() of the store did not end within 10000 ms`)],
  ]);
  expect(failures).toEqual([]);
});

it('a run whose lease cannot be given back has ended all the same', async () => {
  const world = await startWorld();
  const failures = Array.from({ length: 11 }, () => refused);
  const store = withFailures(memoryStore({ now: world.now }), 'release', failures);
  const { clock, results, errors } = await start(world, { store });
  await clock.advance(20);
  expect([results.length, errors, failures]).toEqual([1, [], []]);
  expect(world.log.entries.map(({ level }) => level)).toEqual(['warn']);
});

it('a hook of an event may return a promise that rejects', async () => {
  const world = await startWorld();
  const { simulator, ruleId } = world;
  let rejected = 0;
  const onEvent = () => ({
    // As a promise that rejects: what nobody asks for its error ends the process.
    then: (_done: unknown, failed?: (error: Error) => void) => {
      rejected += 1;
      failed?.(new Error('of the hook'));
    },
  });
  const { clock, reports, errors } = await start(world, { onEvent });
  simulator.rules.pause(ruleId);
  await world.place(2);
  await clock.advance(30);
  expect(reports).toMatchObject([{ missed: 2 }]);
  expect([rejected > 0, errors]).toEqual([true, []]);
});

describe.each([undefined, 'acme'])('the log of a reconciler (tenant: %s)', (tenant) => {
  const options = tenant === undefined ? {} : { tenant };
  const of = tenant === undefined ? expect.not.objectContaining({ tenant: 'acme' }) : { tenant };
  const withTenant =
    tenant === undefined ? {} : { receiver: { tenant: () => tenant, secret: () => undefined } };

  it.each(CALLS)('has one line when %s() of the store fails several times', async (method) => {
    const world = await startWorld(withTenant);
    const failures = [refused, refused, refused];
    const store = withFailures(memoryStore({ now: world.now }), method, failures);
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
