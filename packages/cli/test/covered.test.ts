import { expect, test } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const MINUTE = 60_000;
const COMPLETED = 'call:completed';

interface Span {
  since: number;
  until: number;
}

/**
 * A receiver whose rule was paused after a failure, and has been resumed, for each of these tenants. The service has
 * one call of that time.
 */
async function resumed(tenants: readonly string[]) {
  const made = await setup(
    tenants.includes('') ? {} : { tenant: ({ path }) => path.split('/')[2], secret: () => SECRET },
  );
  const now = Date.now();
  const [failedAt, arrivedAt] = [now - 90 * MINUTE, now - 40 * MINUTE];
  const period = Math.floor(arrivedAt / (10 * MINUTE));
  await made.store.log?.append({
    ...{ id: 'batch', rows: [] },
    failures: tenants.map((tenant) => ({
      ...{ at: failedAt, process: 'p', durationMs: 1, source: 'webhook', attempt: 6 },
      ...{ outcome: 'handler-failed', webhookId: 'w', eventName: COMPLETED },
      ...{ key: `${tenant}-lost`, ...(tenant !== '' && { tenant }) },
    })),
    marks: Object.fromEntries(
      tenants.flatMap((tenant) => [
        [counterName('failed', tenant, COMPLETED, 's'), failedAt],
        [counterName('ack', tenant, COMPLETED, 's'), arrivedAt],
      ]),
    ),
    counts: {
      arrivals: {
        [period]: Object.fromEntries(tenants.map((tenant) => [counterName(COMPLETED, tenant), 1])),
      },
    },
    process: { id: 'p', host: 'h', pid: 1, startedAt: failedAt, at: now, inFlight: 0 },
  });
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: now - 80 * MINUTE },
  });
  closing.push(() => simulator.close());
  simulator.calls.place({ durationSeconds: 20, recorded: false });
  await simulator.clock.advance('2m');
  const env = {
    ...{ CALL_WEBHOOK_SECRET: SECRET },
    CALL_WEBHOOKS_BASE_URL: simulator.url,
    CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
  };
  const store = ['--store', `sqlite:${made.file}`];
  /** The tenants that have missed events, by what `status` tells. */
  const missed = async () => {
    const { records } = await run(['status', '--json', ...store], { env });
    const [{ attention }] = records() as [{ attention: { kind: string; tenant?: string }[] }];
    return attention.map(({ kind, tenant = '' }) => `${kind} ${tenant}`.trim());
  };
  const reconcile = (url: string, argv: readonly string[]) =>
    run(['reconcile', '--to', url, ...argv], { env });
  const loadCursor = (name: string) => made.store.loadCursor?.(name);
  return { ...made, store, missed, reconcile, loadCursor };
}

test('what a reconcile has covered is no longer missed, once the run is recorded', async () => {
  const { url, store, missed, reconcile } = await resumed(['']);
  expect(await missed()).toEqual(['missed']);
  const unrecorded = await reconcile(url, ['--since', '3h']);
  expect(unrecorded.stdout).toBe('1 call: 1 event missed, 1 handled, 0 known, 0 failed\n');
  expect(await missed()).toEqual(['missed']);
  await reconcile(url, ['--since', '1h', ...store]); // which is a part of that time
  expect(await missed()).toEqual(['missed']);
  expect(await reconcile(url, ['--since', '3h', ...store])).toMatchObject({ code: 0, stderr: '' });
  expect(await missed()).toEqual([]);
});

test('with --tenant, it is no longer missed of that tenant alone', async () => {
  const { url, store, missed, reconcile } = await resumed(['acme', 'globex']);
  const both = ['missed acme', 'missed globex'];
  expect(await missed()).toEqual(both);
  const acme = url.replace('/hook', '/hooks/acme');
  const whose = await reconcile(acme, ['--since', '3h', ...store]);
  expect(whose.stderr).toContain('This run is not recorded');
  expect(await missed()).toEqual(both);
  const own = await reconcile(acme, ['--since', '3h', '--tenant', 'acme', ...store]);
  expect(own).toMatchObject({ code: 0, stderr: '' });
  expect(await missed()).toEqual(['missed globex']);
});

test.each([
  ['10 minutes before the run began, by default', [], 10],
  ['when the run began, if nothing is to be left out', ['--until', '0s'], 0],
  ['at the time that was given', ['--until', '30m'], 30],
])('what a run has covered ends %s', async (_when, until, minutes) => {
  const { url, store, reconcile, loadCursor } = await resumed(['']);
  const before = Date.now();
  expect(await reconcile(url, ['--since', '3h', ...until, ...store])).toMatchObject({ code: 0 });
  const after = Date.now();
  const kept = await loadCursor('call-webhooks.covered');
  const { [COMPLETED]: spans } = JSON.parse(kept ?? '{}') as Record<string, Span[]>;
  expect(spans).toHaveLength(1);
  const [span] = spans!;
  // Both times are read from the clock, one after the other.
  const length = span!.until - span!.since - (180 - minutes) * MINUTE;
  expect(length).toBeGreaterThanOrEqual(0);
  expect(length).toBeLessThanOrEqual(after - before);
  expect(span!.until + minutes * MINUTE).toBeGreaterThanOrEqual(before);
  expect(span!.until + minutes * MINUTE).toBeLessThanOrEqual(after);
});
