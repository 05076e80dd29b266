import { expect, test } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './support/dead-letters.ts';
import { run } from './support/run.ts';

test('reconcile says which events are in the dead letters, and how to run them', async () => {
  const { state, handled, url, env } = await setup({ maxAttempts: 1 });
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: Date.now() - 10 * 3_600_000 },
  });
  closing.push(() => simulator.close());
  const place = async (count: number) => {
    for (let made = 0; made < count; made++)
      simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
  };
  const given = {
    env: {
      ...env,
      CALL_WEBHOOKS_BASE_URL: simulator.url,
      CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
    },
  };
  const reconcile = ['reconcile', '--since', '12h', '--to', url];
  state.broken = true;
  await place(4);
  const first = await run(reconcile, given);
  expect(first.stdout).toBe('4 calls: 4 events missed, 0 handled, 0 known, 4 failed\n');
  state.broken = false;
  await place(1);
  const then = await run(reconcile, given);
  expect(then).toMatchObject({ code: 0 });
  expect(then.stdout).toBe(
    '5 calls: 1 events missed, 1 handled, 0 known, 0 failed, 4 in the dead letters\n',
  );
  expect(then.stderr).toContain('call-webhooks dead-letters redrive\n');
  const json = await run([...reconcile, '--json'], given);
  expect(json.records().at(-1)).toMatchObject({ type: 'result', known: 1, inDeadLetters: 4 });

  expect((await run(['dead-letters', 'redrive', '--all', '--to', url], given)).code).toBe(0);
  expect(handled).toHaveLength(5);
  const last = await run(reconcile, given);
  expect(last.stdout).toBe('5 calls: 0 events missed, 0 handled, 5 known, 0 failed\n');
  expect(last.stderr).not.toContain('dead letters');
});
