import { expecting } from '../attempt.ts';
import { completed, recorded, started } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { anyOrder, duplicatePair, eventId, idIsNoKey, safeTwice, webhookId } = SENTENCES;

const EVENTS = [
  ['started', '`call:started`', started, duplicatePair],
  ['completed', '`call:completed`', completed, duplicatePair],
  ['recording', '`call:recording-available`', recorded, eventId],
] as const;

/** When the service tries again: about 5 minutes later. */
const RETRY = 300;

export const duplicates: Group = {
  name: 'duplicates',
  title: 'Duplicates, and what only looks like one',
  vectors({ attempt, several, callId }) {
    /** Deliveries one after the other, each with a webhook id of its own. */
    const sent = (name: string, seconds: number, bodies: readonly string[]) =>
      bodies.map((body, at) => attempt(`${name}/${at}`, body, { arrives: at * seconds }));
    const accepted = (name: string, bodies: readonly string[]) =>
      sent(name, 1, bodies).map((one) => expecting('accept', one));
    const repeated = (name: string, bodies: readonly string[]) =>
      sent(name, RETRY, bodies).map((one, at) => expecting(at === 0 ? 'accept' : 'duplicate', one));
    const id = callId;
    return [
      ...EVENTS.map(([name, title, body, why]) => {
        const same = body(id(`${name}-again`));
        return several(
          `${name}-again`,
          `${title} again after 5 minutes, with a new webhook id.`,
          [why, idIsNoKey, safeTwice],
          repeated(`${name}-again`, [same, same]),
        );
      }),
      several(
        'three-attempts',
        'Three attempts of one event, each with a new webhook id.',
        [duplicatePair, webhookId, safeTwice],
        repeated('three-attempts', Array<string>(3).fill(completed(id('three-attempts')))),
      ),
      several(
        'other-bytes',
        'The same call and event name in a body with other bytes: it is indented and has one more field.',
        [duplicatePair],
        repeated('other-bytes', [
          completed(id('other-bytes')),
          JSON.stringify(JSON.parse(completed(id('other-bytes'), { later: true })), null, 2),
        ]),
      ),
      several(
        'two-events',
        '`call:started` and `call:completed` of one call: the event names differ.',
        [duplicatePair],
        accepted('two-events', [started(id('two-events')), completed(id('two-events'))]),
      ),
      several(
        'two-calls',
        '`call:completed` of two calls. Nothing else differs.',
        [duplicatePair],
        accepted('two-calls', [completed(id('one-call')), completed(id('another-call'))]),
      ),
      several(
        'two-recordings',
        'The recordings of two calls.',
        [eventId],
        accepted('two-recordings', [
          recorded(id('one-recording')),
          recorded(id('another-recording')),
        ]),
      ),
      several(
        'recording-first',
        'The recording arrives before `call:completed`, and `call:started` last.',
        [anyOrder],
        accepted(
          'recording-first',
          [recorded, completed, started].map((body) => body(id('first'))),
        ),
      ),
    ];
  },
};
