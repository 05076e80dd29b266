import { expecting } from '../attempt.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { rejectReplays } = SENTENCES;
const { anyOrder, duplicatePair, eventId, idIsNoKey, safeTwice, webhookId } = SENTENCES;

/** The same request several times. Times are seconds after the start. */
const REPEATED: [name: string, description: string, signed: number, arrives: number[]][] = [
  ['at-once', 'The same request again, at once.', 0, [0, 0]],
  ['three-times', 'The same request three times.', 0, [0, 1, 2]],
  [
    'after-299-seconds',
    'The same request after 299 s. Its timestamp is still within 5 minutes of the clock.',
    0,
    [0, 299],
  ],
  [
    'signed-ahead',
    'A request that was signed 120 s ahead of the clock, and again after 299 s.',
    120,
    [0, 299],
  ],
];

export const replays: Group = {
  name: 'replays',
  title: 'Replays',
  vectors({ attempt, several, completed, callId, source }) {
    const request = (name: string, arrives = 0, signed = 0) =>
      attempt(name, completed(callId(name)), { arrives, signed, webhookId: name });
    const forged = () =>
      attempt('forged', completed(callId('forged-before')), {
        webhookId: 'forged-before',
        secret: source.secretOf('stranger', 24),
      });
    return [
      ...REPEATED.map(([name, description, signed, times]) =>
        several(name, description, [rejectReplays], () =>
          times.map((arrives, at) =>
            expecting(at === 0 ? 'accept' : 'replay', request(name, arrives, signed)),
          ),
        ),
      ),
      several(
        'another-in-between',
        'The same request again, after a delivery of another call.',
        [rejectReplays],
        () => [
          expecting('accept', request('another-in-between')),
          expecting('accept', request('in-between', 1, 1)),
          expecting('replay', request('another-in-between', 2)),
        ],
      ),
      several(
        'forged-before',
        'A forged request with a webhook id that the service uses afterwards. The id was not accepted, so the delivery is not a replay.',
        [rejectReplays],
        () => [expecting('reject', forged()), expecting('accept', request('forged-before'))],
      ),
    ];
  },
};

export const duplicates: Group = {
  name: 'duplicates',
  title: 'Duplicates, and what only looks like one',
  vectors({ attempt, several, started, completed, recorded, callId, source: { retryAfter } }) {
    const eachEvent = [
      ['started', '`call:started`', started, duplicatePair],
      ['completed', '`call:completed`', completed, duplicatePair],
      ['recording', '`call:recording-available`', recorded, eventId],
    ] as const;
    /** Deliveries one after the other, each with a webhook id of its own. */
    const sent = (name: string, seconds: number, bodies: readonly string[]) =>
      bodies.map((body, at) => attempt(`${name}/${at}`, body, { arrives: at * seconds }));
    const accepted = (name: string, bodies: readonly string[]) =>
      sent(name, 1, bodies).map((one) => expecting('accept', one));
    const repeated = (name: string, bodies: readonly string[]) =>
      sent(name, retryAfter, bodies).map((one, at) =>
        expecting(at === 0 ? 'accept' : 'duplicate', one),
      );
    const id = callId;
    const later = retryAfter > 0 ? ` after ${retryAfter / 60} minutes` : '';
    return [
      ...eachEvent.map(([name, title, body, why]) => {
        const same = body(id(`${name}-again`));
        return several(
          `${name}-again`,
          `${title} again${later}, with a new webhook id.`,
          [why, idIsNoKey, safeTwice],
          () => repeated(`${name}-again`, [same, same]),
        );
      }),
      several(
        'three-attempts',
        'Three attempts of one event, each with a new webhook id.',
        [duplicatePair, webhookId, safeTwice],
        () => repeated('three-attempts', Array<string>(3).fill(completed(id('three-attempts')))),
      ),
      several(
        'other-bytes',
        'The same call and event name in a body with other bytes: it is indented and has one more field.',
        [duplicatePair],
        () =>
          repeated('other-bytes', [
            completed(id('other-bytes')),
            JSON.stringify(JSON.parse(completed(id('other-bytes'), { later: true })), null, 2),
          ]),
      ),
      several(
        'two-events',
        '`call:started` and `call:completed` of one call: the event names differ.',
        [duplicatePair],
        () => accepted('two-events', [started(id('two-events')), completed(id('two-events'))]),
      ),
      several(
        'two-calls',
        '`call:completed` of two calls. Nothing else differs.',
        [duplicatePair],
        () => accepted('two-calls', [completed(id('one-call')), completed(id('another-call'))]),
      ),
      several('two-recordings', 'The recordings of two calls.', [eventId], () =>
        accepted('two-recordings', [
          recorded(id('one-recording')),
          recorded(id('another-recording')),
        ]),
      ),
      several(
        'recording-first',
        'The recording arrives before `call:completed`, and `call:started` last.',
        [anyOrder],
        () =>
          accepted(
            'recording-first',
            [recorded, completed, started].map((body) => body(id('first'))),
          ),
      ),
    ];
  },
};
