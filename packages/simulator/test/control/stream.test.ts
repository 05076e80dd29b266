import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

/** Reads `changes` events, until one satisfies. */
async function* changesOf(url: string): AsyncGenerator<Record<string, unknown>> {
  const answer = await fetch(`${url}/_sim/stream`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^event: changes\ndata: (.*)$/s.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      yield data === undefined ? {} : (JSON.parse(data) as Record<string, unknown>);
    }
  }
}

test('changes are told as they happen, gathered, with the records as they are', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver();
  const changes = changesOf(simulator.url);
  expect((await changes.next()).value).toEqual({}); // the stream is open
  const [rule] = simulator.rules.forwardTo(receiver.url);
  const call = simulator.calls.start();
  simulator.chaos.set({ replay: 0.1 });
  await simulator.deliveries.settled();
  const told: Record<string, unknown[]> = {};
  for await (const change of changes) {
    for (const [name, rows] of Object.entries(change))
      if (Array.isArray(rows)) (told[name] ??= []).push(...(rows as unknown[]));
    expect(change).toMatchObject({ resync: false, chaos: { replay: 0.1 }, counts: { calls: 1 } });
    if (JSON.stringify(told['deliveries']).includes('acknowledged')) break;
  }
  expect(told['rules']).toContainEqual(rule);
  expect(told['calls']).toContainEqual(call);
  expect(JSON.stringify(told)).not.toContain('whsec_');
});

test('too many changes at once, or a reset, ask for a new look at the state', async () => {
  const simulator = await open.simulator();
  const changes = changesOf(simulator.url);
  await changes.next();
  for (let placed = 0; placed < 300; placed++) simulator.calls.start();
  expect((await changes.next()).value).toMatchObject({ resync: true, counts: { calls: 300 } });
  simulator.reset();
  expect((await changes.next()).value).toMatchObject({ resync: true, counts: { calls: 0 } });
  await simulator.close();
  expect((await changes.next()).done).toBe(true);
});
