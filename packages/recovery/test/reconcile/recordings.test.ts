import { describe, expect, it } from '@jest/globals';
import { ApiError, type CallRecord } from '@call-webhooks/client';
import { reconcile, type MissedEvent } from '@call-webhooks/recovery';
import { call, clock, listing, since } from '../support/call-lists.ts';
import { DAY, HOUR, MINUTE, STARTED_AT } from '../support/world.ts';

const NOTHING = {
  ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
  ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
};
const apiError = (status: number) =>
  new ApiError({ method: 'GET', path: '/v1/calls/ID/recording', status });

/** Reconciles calls, of which the service has a recording, or has none, or fails. */
async function run(
  calls: readonly CallRecord[],
  { error, recordings = true }: { error?: Error; recordings?: boolean } = {},
) {
  const { client } = listing([calls]);
  const asked: string[] = [];
  const options: unknown[] = [];
  const delivered: MissedEvent[] = [];
  let open = 0;
  const recording = async (id: string, more: unknown) => {
    asked.push(id);
    options.push(more);
    if (error) throw error;
    open += 1;
    return { body: new ReadableStream({ cancel: () => void (open -= 1) }) } as never;
  };
  const result = await reconcile({
    client: { ...client, calls: { ...client.calls, recording } },
    receiver: {
      deliver: async (event) => {
        delivered.push(event);
        return { outcome: 'handled' };
      },
    },
    ...{ store: { rememberFor: DAY }, since, clock, recordings, concurrency: 1 },
  }).catch((thrown: unknown) => thrown);
  return { result, asked, options, delivered, open };
}

const completed = (callId: string) => ({ eventName: 'call:completed', callId });

describe('the recording of a call', () => {
  it('is asked for once, and its event has the id of the call, also in the URL', async () => {
    const { result, asked, delivered, open } = await run([call(15, { _id: 'a/b?c' })]);
    expect(result).toEqual({ ...NOTHING, seen: 1, missed: 2, handled: 2 });
    expect([asked, open]).toEqual([['a/b?c'], 0]);
    expect(delivered).toEqual([
      completed('a/b?c'),
      {
        eventName: 'call:recording-available',
        eventId: 'a/b?c:recording-available',
        callId: 'a/b?c',
        recordingUrl: 'https://service.example/v1/calls/a%2Fb%3Fc/recording',
      },
    ]);
  });

  it('is not asked for unless that is wanted, nor before the call has certainly ended', async () => {
    expect((await run([call(15)], { recordings: false })).asked).toEqual([]);
    const { result, asked, delivered } = await run([
      call(23, { endedAt: undefined }),
      // It ended 10 minutes ago, and one a millisecond later.
      call(23.5, { _id: 'over', endedAt: STARTED_AT + 24 * HOUR - 10 * MINUTE }),
      call(23.5, { _id: 'early', endedAt: STARTED_AT + 24 * HOUR - 10 * MINUTE + 1 }),
    ]);
    expect(result).toEqual({ ...NOTHING, seen: 3, missed: 2, handled: 2 });
    expect([asked, delivered[0]]).toEqual([['over'], completed('over')]);
  });

  it('is one whatever its content type is, which the interface does not document', async () => {
    const { options } = await run([call(15)]);
    expect(options).toMatchObject([{ anyContentType: true }]);
  });

  it('is not asked for while the call goes on, by the fields that the records have', async () => {
    const of = async (fieldNames: { endedAt?: string }) => {
      const { client } = listing([
        [call(15, { endedAt: undefined, over: STARTED_AT + 25 * HOUR })],
      ]);
      const delivered: string[] = [];
      await reconcile({
        client,
        receiver: {
          deliver: async ({ eventName }) => {
            delivered.push(eventName);
            return { outcome: 'handled' };
          },
        },
        ...{ store: { rememberFor: DAY }, since, clock, fieldNames },
      });
      return delivered;
    };
    // Without an end, a call of nine hours ago is over.
    expect(await of({})).toEqual(['call:completed']);
    expect(await of({ endedAt: 'over' })).toEqual([]);
  });

  it('is none if the service does not find it', async () => {
    const { result, delivered } = await run([call(15)], { error: apiError(404) });
    expect(result).toEqual({ ...NOTHING, seen: 1, missed: 1, handled: 1 });
    expect(delivered).toEqual([completed('c15')]);
  });

  it.each([
    ...[400, 401, 403, 410, 429, 500, 503].map(apiError),
    new Error('no route to the service'),
  ])(
    'is unknown after %s, so that the run fails, and nothing of the call is run',
    async (error) => {
      const { result, delivered } = await run([call(15)], { error });
      expect(result).toBe(error);
      expect(delivered).toEqual([]);
    },
  );
});

describe('when a call began', () => {
  const hourOf = (hour: number | undefined) =>
    hour === undefined ? undefined : STARTED_AT + hour * HOUR;

  it.each([
    ['created before the window, and dialed in it', 11, 13, false],
    ['created in the window, and dialed before it', 13, 11, false],
    ['created when the window begins', 12, 13, true],
    ['dialed when the window begins', 13, 12, true],
    ['without the time of its creation', undefined, 12, true],
  ])('is the first of its times: %s', async (_what, created, dialed, isSeen) => {
    const times = { createdAt: hourOf(created), startedAt: hourOf(dialed) };
    const { result } = await run([call(14, times)], { recordings: false });
    expect(result).toMatchObject({ seen: isSeen ? 1 : 0, handled: isSeen ? 1 : 0, skipped: 0 });
  });
});
