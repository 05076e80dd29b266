import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { counterName, durationBucket, type LogProcess } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { COMPLETED, DAY, HOUR, MINUTE, STARTED } from './service-model.ts';
import { NOW, periodsAgo, rowAt, statusOf, storeWith } from './written-log.ts';

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

describe('slow deliveries', () => {
  const took = (ms: number, ...name: readonly string[]) =>
    counterName(...name, String(durationBucket(ms)));
  const item = (more: object) => ({
    ...{ kind: 'slow', urgent: false, eventName: COMPLETED, since: NOW - 10 * MINUTE },
    docs: 'https://call-webhooks.github.io/call-webhooks/status.html#slow',
    ...more,
  });
  const QUEUE = 'A handler that takes this long belongs in a queue.';

  it.each([
    [13_000, 900, `Find out what the handler is waiting for. ${QUEUE}`, '13.8 s', '1 s'],
    [8_000, 4_000, `Find out what the handler is waiting for. ${QUEUE}`, '8.2 s', '4.1 s'],
    [
      7_500,
      4_500,
      `Find out what the handler and the store are waiting for. ${QUEUE}`,
      '8.2 s',
      '4.9 s',
    ],
    [
      4_500,
      7_500,
      `Find out what the handler and the store are waiting for. ${QUEUE}`,
      '4.9 s',
      '8.2 s',
    ],
    [
      400,
      900,
      "The store is slower than the handler. Check the store's server and the network.",
      '431 ms',
      '1 s',
    ],
  ])(
    'whose handler takes %d ms, and the store %d',
    async (handler, store, fix, ofHandler, ofStore) => {
      const { attention } = await statusOf({
        counts: {
          times: periodsAgo({
            1: {
              [took(14_000, 'deliveryMs', COMPLETED)]: 5,
              [took(100, 'deliveryMs', COMPLETED)]: 7,
              [took(handler, 'handlerMs', COMPLETED)]: 12,
              [took(19_000, 'handlerMs', STARTED)]: 12,
              [took(store, 'storeMs')]: 12,
            },
            // It was worse before, and is over since.
            20: { [took(19_000, 'handlerMs', COMPLETED)]: 99, [took(19_000, 'storeMs')]: 99 },
          }),
        },
      });
      expect(attention).toEqual([
        item({
          count: 5,
          text: `5 of 12 deliveries of \`call:completed\` since 13:50 UTC took longer than 10 s, which is half of \`ackWithin\`. 95% of them took at most: whole delivery 16.4 s, handler ${ofHandler}, store ${ofStore}.`,
          fix,
        }),
      ]);
    },
  );

  it('are counted from the first slow one on, which has its time, its version and its process', async () => {
    const rows = [9.5, 9, 8.5, 8, 7.5].map((minutes, index) => ({
      ...rowAt(minutes, { outcome: 'handled', process: index < 3 ? 'old' : 'new' }),
      durationMs: index < 2 ? 100 : 14_000,
    }));
    const { log } = await storeWith({
      rows: [
        ...rows,
        { ...rowAt(9.9, { outcome: 'handled', eventName: STARTED }), durationMs: 14_000 },
        { ...rowAt(9.8, { outcome: 'handled', source: 'redrive' }), durationMs: 14_000 },
        { ...rowAt(9.7, { outcome: 'handled', late: true }), durationMs: 14_000 },
      ],
      counts: {
        times: periodsAgo({
          1: {
            [took(14_000, 'deliveryMs', COMPLETED)]: 3,
            [took(100, 'deliveryMs', COMPLETED)]: 2,
          },
        }),
      },
    });
    const process = (id: string, hours: number, ahead = 0): LogProcess & { seenAt: number } => ({
      ...{ id, version: `v-${id}`, host: 'h', pid: 1, inFlight: 0, seenAt: NOW },
      ...{ startedAt: NOW - hours * HOUR + ahead, at: NOW + ahead },
    });
    const processes = async () => [process('new', 1), process('old', 3, 2 * MINUTE)];
    const { attention } = await status({
      store: { log: { ...log!, processes }, rememberFor: DAY },
      timeZone: 'UTC',
    });
    expect(attention).toEqual([
      item({
        ...{ since: NOW - 8.5 * MINUTE, count: 3 },
        text: '3 of 3 deliveries of `call:completed` since 13:51 UTC took longer than 10 s, which is half of `ackWithin`. Version `v-old` of your app, whose process started at 11:00 UTC, handled the first of them. 95% of them took at most: whole delivery 16.4 s.',
        fix: `Find out what the handler is waiting for. ${QUEUE}`,
      }),
    ]);
  });

  it.each([
    ['of all that run', [5_000, 20_000], '2.5 s'],
    ['of all that run, in another order', [20_000, 5_000], '2.5 s'],
    ['of receivers alone: a worker has none', [undefined, 15_000], '7.5 s'],
    ['that the service gives, if no process says it', [undefined, undefined], '10 s'],
  ])('are told by the shortest ackWithin %s', async (_what, limits, half) => {
    const { log } = await storeWith({
      counts: { times: periodsAgo({ 1: { [took(14_000, 'deliveryMs', COMPLETED)]: 5 } }) },
    });
    const of = { host: 'h', pid: 1, inFlight: 0, seenAt: NOW, startedAt: NOW - HOUR, at: NOW };
    const seen = limits.map((ackWithin, at) => ({
      ...{ ...of, id: String(at) },
      ...(ackWithin !== undefined && { ackWithin }),
    }));
    const store = { log: { ...log!, processes: async () => seen }, rememberFor: DAY };
    const { attention } = await status({ store, timeZone: 'UTC' });
    expect(attention[0]?.text).toContain(
      ` took longer than ${half}, which is half of \`ackWithin\`.`,
    );
  });

  it('are over once so many quick ones came that it is hardly chance', async () => {
    const told = async (quick: number) => {
      const rows = [
        ...[9, 8, 7].map((minutes) => ({
          ...rowAt(minutes, { outcome: 'handled' }),
          durationMs: 14_000,
        })),
        ...Array.from({ length: quick }, (_, at) => rowAt(6 - at / 10, { outcome: 'handled' })),
      ];
      const { attention } = await statusOf({
        rows,
        counts: {
          times: periodsAgo({
            1: {
              [took(14_000, 'deliveryMs', COMPLETED)]: 3,
              [took(1, 'deliveryMs', COMPLETED)]: quick,
            },
          }),
        },
      });
      return attention.map(({ count }) => count);
    };
    // All were slow: three in a row are enough.
    expect(await told(2)).toEqual([3]);
    expect(await told(3)).toEqual([]);
  });

  it('began after the last time in which so many quick ones came that it is hardly chance', async () => {
    const times = (quick: number) =>
      periodsAgo({
        1: { [took(14_000, 'deliveryMs', COMPLETED)]: 5 },
        2: { [took(100, 'deliveryMs', COMPLETED)]: 20 },
        3: { [took(100, 'deliveryMs', COMPLETED)]: quick },
        4: { [took(14_000, 'deliveryMs', COMPLETED)]: 5 },
      });
    const told = async (quick: number) =>
      (await statusOf({ counts: { times: times(quick) } })).attention.map((one) => [
        ...[one.count, (NOW - one.since) / MINUTE],
      ]);
    // A fifth is slow, so 31 quick ones in a row come once in a thousand times.
    expect(await told(11)).toEqual([[5, 10]]);
    expect(await told(10)).toEqual([[10, 40]]);
  });
});
