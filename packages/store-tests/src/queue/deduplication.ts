import expect from '../../expect.cjs';
import fc from 'fast-check';
import { anyText } from '../any-text.ts';
import { deferred } from '../deferred.ts';
import { unique } from '../unique.ts';
import { queuedCall } from './deliveries.ts';
import type { QueueTestContext } from './under-test.ts';

/** An event is queued once, known by its key. */
export function deduplication({ it, open, waitFor }: QueueTestContext): void {
  it('runs an event once, however often it is put in: before, while and after it runs', async () => {
    const { queue, startWorker } = await open();
    const callId = unique('call');
    const runs: string[] = [];
    const started = deferred();
    const go = deferred();
    await queue.enqueue(queuedCall(callId));
    await queue.enqueue(queuedCall(callId));
    await startWorker({
      on: {
        'call:completed': async (event) => {
          runs.push(String(event.callId));
          started.resolve();
          await go.promise;
        },
      },
    });
    await started.promise;
    await queue.enqueue(queuedCall(callId));
    go.resolve();
    const second = unique('call'); // behind the first: once it is done, the first is
    await queue.enqueue(queuedCall(second));
    await waitFor(() => runs.includes(second));
    await queue.enqueue(queuedCall(callId));
    const third = unique('call');
    await queue.enqueue(queuedCall(third));
    await waitFor(() => runs.includes(third));
    expect(runs).toEqual([callId, second, third]);
  });

  it('runs each of 60 events once, put in three times at once each, with two workers', async () => {
    const { queue, startWorker } = await open();
    const runs: string[] = [];
    const on = {
      'call:completed': (event: { callId?: unknown }) => void runs.push(String(event.callId)),
    };
    await Promise.all([startWorker({ on }), startWorker({ on })]);
    const calls = Array.from({ length: 60 }, () => unique('call'));
    await Promise.all([...calls, ...calls, ...calls].map((id) => queue.enqueue(queuedCall(id))));
    await waitFor(() => new Set(runs).size === calls.length);
    const marker = unique('call');
    await queue.enqueue(queuedCall(marker));
    await waitFor(() => runs.includes(marker));
    expect(runs.sort()).toEqual([...calls, marker].sort());
  });

  it('accepts any keys and event names, and tells them apart', async () => {
    const { queue, startWorker } = await open({ concurrency: 10 });
    const runs: string[] = [];
    await startWorker({
      on: { 'call:completed': (event) => void runs.push(String(event.callId)) },
    });
    const odd = ['\ud800', '\udbff', '\udc00', '\ufffd', '\0', '\u2028', 'x'.repeat(4_000)];
    odd.push('', ':', ' ', 'a:b:c', 'A:b:c', 'é', 'e\u0301', '{a}:b', "'; --");
    const texts = [...new Set([...odd, ...fc.sample(anyText, { numRuns: 15, seed: 1 })])];
    const start = String(Date.now()); // digits alone are a key, too
    for (const [index, text] of texts.entries()) {
      const delivery = { key: `${start}${text}`, eventName: `call:${text}` };
      await queue.enqueue(queuedCall(`call-${String(index)}`, delivery));
      await queue.enqueue(queuedCall('a duplicate', delivery));
    }
    await waitFor(() => runs.length >= texts.length);
    expect(runs.sort()).toEqual(texts.map((_, index) => `call-${String(index)}`).sort());
  });

  it('does not run a dead event again when a late duplicate arrives', async () => {
    const { queue, startWorker, deadLetters } = await open({ maxRuns: 1 });
    const runs: string[] = [];
    const dead = unique('call');
    await startWorker({
      on: {
        'call:completed': (event) => {
          runs.push(String(event.callId));
          if (event.callId === dead) throw new Error('never');
        },
      },
    });
    const delivery = queuedCall(dead);
    await queue.enqueue(delivery);
    await waitFor(async () => (await deadLetters()).length > 0);
    await queue.enqueue(queuedCall(dead));
    const next = unique('call');
    await queue.enqueue(queuedCall(next));
    await waitFor(() => runs.includes(next));
    expect(runs).toEqual([dead, next]);
    expect(await deadLetters()).toEqual([delivery]);
  });
}
