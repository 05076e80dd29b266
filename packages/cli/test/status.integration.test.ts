import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './support/dead-letters.ts';
import { program } from './support/program.ts';
import { SECRET } from './support/receiver.ts';

/** Runs the program to its end, as cron does. */
async function status(store: string) {
  const child = program(['status'], { CALL_WEBHOOKS_STORE: store });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}

test('in cron: 0 while all is well, 1 before the rule is paused, 3 if nobody can tell', async () => {
  let isBroken = false;
  const handle = () => {
    if (isBroken) throw new Error('The CRM is down');
  };
  const made = await setup({
    on: { 'call:started': handle, 'call:completed': handle },
    deadLetter: undefined,
  });
  const simulator = await startSimulator({ clock: 'manual', seed: 1, patience: 10_000 });
  closing.push(() => simulator.close());
  const secret = SECRET;
  for (const trigger of ['call:started', 'call:completed'] as const)
    simulator.rules.create({ trigger, scope: 'workspace', actions: [{ url: made.url, secret }] });
  const place = async (time: string) => {
    simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance(time);
    await simulator.events.settled();
  };
  const logged = (count: number) =>
    waitFor(async () => ((await made.store.log?.read())?.rows.length ?? 0) >= count);

  await place('1m');
  await logged(2);
  const store = `sqlite:${made.file}`;
  const calm = await status(store);
  expect(calm).toMatchObject({ code: 0, stderr: '' });
  expect(calm.stdout).toContain('All 2 events are arriving.');

  isBroken = true;
  await place('12m'); // two retries of both events
  await logged(8);
  const failing = await status(store);
  expect(failing.code).toBe(1);
  expect(failing.stdout).toContain('2 things need attention: ');
  expect(failing.stdout).toMatch(/^failing {2}call:started, call:completed {2}urgent {2}since /m);
  expect(failing.stdout).toContain('and then pauses the rule');
  expect(simulator.rules.list().map(({ state }) => state)).toEqual(['active', 'active']);

  isBroken = false;
  await simulator.clock.runUntilIdle();
  await logged(10);
  expect((await status(store)).code).toBe(0);

  const unknown = await status('sqlite:/nowhere/calls.db');
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
}, 240_000);
