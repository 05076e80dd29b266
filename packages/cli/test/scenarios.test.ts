import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

// Every scenario of `trigger`, where each event has a signed action, and the start of a call one without a secret.

const STARTED = 'call:started';
const COMPLETED = 'call:completed';
const RECORDING = 'call:recording-available';

let simulator: Simulator;
let target: Awaited<ReturnType<typeof receiver>>;
const cli = (...argv: string[]) => run(argv, { env: { CALL_WEBHOOKS_SIMULATOR: simulator.url } });

beforeEach(async () => {
  simulator = await startSimulator({ clock: 'manual', seed: 7 });
  target = await receiver();
  for (const flags of [[], ['--trigger', STARTED, '--unsigned']])
    expect((await cli('rules', 'create', '--url', target.url, ...flags)).code).toBe(0);
});
afterEach(async () => {
  await simulator.close();
  await target.close();
});

const rotations = () =>
  simulator.rules
    .list()
    .flatMap(({ trigger, actions }) =>
      actions.map(({ _id }) => [trigger, simulator.secrets.get(_id)?.rotations]),
    );
const ONCE_EACH = { [STARTED]: 2, [COMPLETED]: 1, [RECORDING]: 1 };

test.each<[string, string[], Record<string, number>]>([
  ['call', [], ONCE_EACH],
  ['unrecorded-call', [], { [STARTED]: 2, [COMPLETED]: 1 }],
  ['duplicate', [], { [STARTED]: 4, [COMPLETED]: 2, [RECORDING]: 2 }],
  ['burst', ['-n', '3'], { [STARTED]: 6, [COMPLETED]: 3, [RECORDING]: 3 }],
  ['rotation', [], ONCE_EACH],
  [STARTED, ['-n', '2'], { [STARTED]: 4 }],
  [COMPLETED, [], { [COMPLETED]: 1 }],
  [RECORDING, [], { [RECORDING]: 1 }],
])('trigger %s %j sends these events: %j', async (name, flags, expected) => {
  const { code, records } = await cli('trigger', name, '--wait', '--json', ...flags);
  const sent: Record<string, number> = {};
  for (const { event } of records() as { event: { eventName: string; state: string } }[]) {
    expect(event.state).toBe('acknowledged');
    sent[event.eventName] = (sent[event.eventName] ?? 0) + 1;
  }
  expect({ code, sent }).toEqual({ code: 0, sent: expected });
  const turns = name === 'rotation' ? 1 : 0;
  expect(rotations()).toEqual([
    ...[STARTED, COMPLETED, RECORDING].map((trigger) => [trigger, turns]),
    [STARTED, undefined],
  ]);
});
