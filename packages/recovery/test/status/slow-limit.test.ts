import { expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { durationBucket } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE } from './service-model.ts';
import { NOW } from './written-log.ts';

/** A handler that takes 12 s, in a process that has replaced another one. */
async function statusWith({ before, now }: { before: number; now: number }) {
  let time = NOW - HOUR;
  const store = memoryStore({ now: () => time });
  const write = async (id: string, ackWithin: number, deliveries: number) => {
    const counted = { [`deliveryMs/call:completed/${String(durationBucket(12_000))}`]: deliveries };
    await store.log?.append({
      ...{ id, rows: [], failures: [], marks: {} },
      process: { id, host: 'h', pid: 1, startedAt: NOW - DAY, at: time, inFlight: 0, ackWithin },
      counts: { times: { [Math.floor(time / (10 * MINUTE))]: counted } },
    });
  };
  await write('before', before, 1);
  time = NOW;
  await write('now', now, 20);
  return status({ store });
}

it('is half of the ackWithin of the processes that are running', async () => {
  expect((await statusWith({ before: 20_000, now: 29_000 })).attention).toEqual([]);
  const { attention } = await statusWith({ before: 29_000, now: 20_000 });
  expect(attention).toMatchObject([{ kind: 'slow', eventName: 'call:completed' }]);
  expect(attention[0]?.text).toMatch(
    /took longer than 10 s, which is half of `ackWithin`\. 95% of them took at most: whole delivery \d/,
  );
});
