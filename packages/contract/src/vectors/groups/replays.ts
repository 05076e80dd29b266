import { expecting } from '../attempt.ts';
import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { rejectReplays } = SENTENCES;

export const replays: Group = {
  name: 'replays',
  title: 'Replays',
  vectors({ attempt, several, callId, source }) {
    const request = (name: string, arrives = 0, signed = 0) =>
      attempt(name, completed(callId(name)), { arrives, signed, webhookId: name });
    const stranger = { secret: source.secretOf('stranger', 24) };
    return [
      several(
        'at-once',
        'The same request again, at once.',
        [rejectReplays],
        [expecting('accept', request('at-once')), expecting('replay', request('at-once'))],
      ),
      several(
        'three-times',
        'The same request three times.',
        [rejectReplays],
        [
          expecting('accept', request('three-times')),
          expecting('replay', request('three-times', 1)),
          expecting('replay', request('three-times', 2)),
        ],
      ),
      several(
        'after-299-seconds',
        'The same request after 299 s. Its timestamp is still within 5 minutes of the clock.',
        [rejectReplays],
        [
          expecting('accept', request('after-299-seconds')),
          expecting('replay', request('after-299-seconds', 299)),
        ],
      ),
      several(
        'signed-ahead',
        'A request that was signed 120 s ahead of the clock, and again after 299 s.',
        [rejectReplays],
        [
          expecting('accept', request('signed-ahead', 0, 120)),
          expecting('replay', request('signed-ahead', 299, 120)),
        ],
      ),
      several(
        'another-in-between',
        'The same request again, after a delivery of another call.',
        [rejectReplays],
        [
          expecting('accept', request('another-in-between')),
          expecting('accept', request('in-between', 1, 1)),
          expecting('replay', request('another-in-between', 2)),
        ],
      ),
      several(
        'forged-before',
        'A forged request with a webhook id that the service uses afterwards. The id was not accepted, so the delivery is no repeat.',
        [rejectReplays],
        [
          expecting(
            'refuse',
            attempt('forged', completed(callId('forged-before')), {
              webhookId: 'forged-before',
              ...stranger,
            }),
          ),
          expecting('accept', request('forged-before')),
        ],
      ),
    ];
  },
};
