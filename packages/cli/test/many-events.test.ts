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

test.each([50, 51])(
  'clock advance shows the last 50 of %d attempts, and counts all',
  async (count) => {
    let status = 500;
    const { url, close } = await receiver(() => ({ status }));
    closing.push(close);
    const simulator = await startSimulator({ clock: 'manual', seed: 1, retryJitter: 0 });
    closing.push(() => simulator.close());
    simulator.rules.create({ trigger: 'call:started', scope: 'workspace', actions: [{ url }] });
    const calls: string[] = [];
    for (let at = 0; at < count; at++) {
      calls.push(simulator.calls.start({ recorded: false })._id);
      await simulator.clock.advance('1s');
    }
    status = 200;
    const advance = ['clock', 'advance', '6m', '--simulator', simulator.url];
    const { code, stdout, stderr } = await run(advance, { columns: 300 });
    const lines = stdout.trimEnd().split('\n');
    const shown = lines.slice(0, -2).map((line) => line.split(/ {2,}/)[2]);
    expect([code, shown]).toEqual([0, calls.slice(-50).map((id) => id.slice(0, 8))]);
    expect(lines.at(-2)).toBe(`${count} attempts ended, ${count} acknowledged.`);
    expect(stderr).toBe(
      count > 50 ? 'These are the last 50. For all: npx call-webhooks events list\n' : '',
    );
  },
);
