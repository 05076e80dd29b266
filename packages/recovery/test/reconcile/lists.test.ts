import { describe, expect, it } from '@jest/globals';
import { reconcile, type CallsClient } from '@call-webhooks/recovery';
import { HOUR } from '../support/world.ts';
import { call, listing, now, oldReceiver, since } from '../support/call-lists.ts';

describe('the order of the list', () => {
  it('ends the run with the first page that is too old, if the newest calls come first', async () => {
    const newest = [22, 21, 20, 19, 18, 17, 16].map((hour) => call(hour));
    const { client, asked } = listing([
      newest,
      [call(13), call(11)],
      [call(10), call(9)],
      [call(8), call(7)],
    ]);
    const { receiver, handled } = oldReceiver();
    await reconcile({ client, receiver, since, now });
    expect(handled.sort()).toEqual(['c13', ...newest.map(({ _id }) => _id)].sort());
    expect(asked).toEqual([undefined, '1', '2']);
  });

  it.each([
    [
      'the oldest first',
      [
        [call(7), call(8)],
        [call(9), call(13)],
        [call(14), call(15)],
      ],
    ],
    [
      'no order',
      [
        [call(10), call(9)],
        [call(7), call(8)],
        [call(13), call(6), call(14), call(15)],
      ],
    ],
    ['one call a page', [[call(9)], [call(8)], [call(13)], [call(14)], [call(15)]]],
    [
      'one time',
      [
        [call(9), call(9)],
        [call(13), call(14), call(15)],
      ],
    ],
  ])('is not relied on: %s', async (_order, pages) => {
    const { client, asked } = listing(pages);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 3, handled: 3 });
    expect(handled.sort()).toEqual(['c13', 'c14', 'c15']);
    expect(asked).toHaveLength(pages.length);
  });

  it('may repeat calls on a later page, but not a cursor', async () => {
    const { client } = listing([
      [call(15), call(14)],
      [call(14), call(13)],
    ]);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 4, handled: 3, known: 1 });
    expect(handled).toHaveLength(3);

    const endless: CallsClient = {
      ...client,
      calls: {
        ...client.calls,
        list: () => Promise.resolve({ results: [call(15)], next: 'x', hasNext: true, raw: {} }),
      },
    };
    await expect(reconcile({ client: endless, receiver, since, now })).rejects.toThrow(
      'wire.nextParam',
    );
  });
});

describe('call records', () => {
  it('without any time are refused, with the fields that were looked for', async () => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing([[{ _id: 'a', begun: now() - HOUR }]]);
    const run = (fieldNames = {}) => reconcile({ client, receiver, since, now, fieldNames });
    await expect(run()).rejects.toThrow('no call record has a time in createdAt or startedAt');
    await expect(run({ createdAt: 'made' })).rejects.toThrow('in made or startedAt');
    expect(handled).toEqual([]);
    expect(await run({ createdAt: 'begun' })).toMatchObject({ seen: 1, handled: 0 });
  });

  it('are left out one by one if only some have none', async () => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing([[call(15), { _id: 'x' }, call(14, { createdAt: 'soon' })]]);
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 1, handled: 1, skipped: 2 });
    expect(handled).toEqual(['c15']);
  });
});
