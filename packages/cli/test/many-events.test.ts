import { expect, test } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { closing } from './support/dead-letters.ts';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

test('events list finds the events of a call, however many came since', async () => {
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  closing.push(() => simulator.close());
  const { url, close } = await receiver();
  closing.push(close);
  simulator.rules.create({ trigger: 'call:started', scope: 'workspace', actions: [{ url }] });
  const calls = Array.from({ length: 120 }, () => simulator.calls.start({ recorded: false })._id);
  await simulator.events.settled();
  const list = ['events', 'list', '--simulator', simulator.url];
  const first = await run([...list, '--call', calls[0]!, '--json']);
  expect(first.records()).toMatchObject([{ callId: calls[0], state: 'acknowledged' }]);
  const many = await run([...list, '--json']);
  expect(many.records().map(({ callId }) => callId)).toEqual(calls.slice(-50));
  const all = await run([...list, '--limit', '500', '--json']);
  expect(all.records().map(({ callId }) => callId)).toEqual(calls);
  const told = await run(list);
  expect(told.stderr).toContain('These are the latest 50. For more: --limit 500');
  for (const limit of ['120', '121'])
    expect((await run([...list, '--limit', limit])).stderr).not.toContain('These are the latest');
});
