import { expect, it } from '@jest/globals';
import { createClient } from '@call-webhooks/client';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import { createReceiver, memoryStore } from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import { reconcile } from '@call-webhooks/recovery';
import { startSimulator } from '@call-webhooks/simulator';
import { closeLater, STARTED_AT } from '../support/world.ts';

const MISSED = 200;
const since = new Date(STARTED_AT);

/** What the other stores show in missed-calls.nightly.test.ts, in one process. */
it('memory: each of 200 missed events is handled once, and nothing runs again', async () => {
  const simulator = closeLater(
    await startSimulator({
      ...{ clock: 'manual', seed: 1, startAt: STARTED_AT, timestamps: 'clock' },
      ...{ patience: 10_000, pageSize: 20 },
    }),
  );
  const now = () => simulator.clock.now();
  const logger = collectingLogger();
  const runs: string[] = [];
  const start = () =>
    closeLater(
      createReceiver({
        ...{ secret: () => simulator.secrets.all(), store: memoryStore({ now }), now, logger },
        on: {
          'call:completed': ({ callId }, { source }) => void runs.push(`${source} ${callId!}`),
        },
      }),
    );
  const receiver = start();
  const handle = nodeHandler(receiver);
  let isDeployedWrongly = false;
  const served = await serveLocally((request, response) => {
    if (isDeployedWrongly) response.writeHead(404).end();
    else void handle(request, response);
  });
  closeLater(served);
  const rule = simulator.rules.create({
    ...{ trigger: 'call:completed', scope: 'workspace' },
    actions: [{ url: `${served.origin}/hook` }],
  });
  const place = async (count: number) => {
    for (let made = 0; made < count; made++)
      simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
    await simulator.deliveries.settled();
  };
  await simulator.clock.advance('10m'); // the store knows nothing from before
  await place(10);
  isDeployedWrongly = true;
  await place(1);
  expect(simulator.rules.get(rule._id)).toMatchObject({ state: 'paused' });
  isDeployedWrongly = false;
  await place(MISSED - 1);
  await simulator.clock.advance('10m');

  const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
  const stopping = new AbortController();
  const onProgress = ({ seen }: { seen: number }) => {
    if (seen >= 90) stopping.abort(new Error('a deploy'));
  };
  await expect(
    reconcile({ client, receiver, since, now, onProgress, signal: stopping.signal }),
  ).rejects.toThrow('a deploy');
  expect(runs.length).toBeGreaterThan(10 + 60);
  expect(runs.length).toBeLessThan(10 + MISSED);
  const soFar = runs.length;

  // A receiver that was restarted knows nothing, so it takes nothing for missed.
  const restarted = start();
  await expect(reconcile({ client, receiver: restarted, since, now })).rejects.toThrow(
    /knows nothing from before it started, 0 seconds .* Begin later, or use a store that outlives /,
  );
  expect(runs).toHaveLength(soFar);

  expect(await reconcile({ client, receiver, since, now })).toMatchObject({
    failed: 0,
    skipped: 0,
  });
  simulator.rules.resume(rule._id);
  const late = simulator.deliveries.list({ state: 'dropped' });
  expect(late.length).toBeGreaterThanOrEqual(MISSED - 1);
  for (const { _id } of late) simulator.deliveries.resend(_id);
  await simulator.clock.runUntilIdle();

  const calls = simulator.calls.list().map(({ _id }) => _id);
  expect(calls).toHaveLength(10 + MISSED);
  expect(runs.map((run) => run.split(' ')[1]).sort()).toEqual(calls.sort());
  expect(runs.filter((run) => run.startsWith('webhook'))).toHaveLength(10);
});
