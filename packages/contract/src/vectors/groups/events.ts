import { acknowledged } from '../attempt.ts';
import { completed, recorded, started } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { customPayload, growingBodies, ignoreUnknownFields, newerCallId, optionalPhoneNumber } =
  SENTENCES;

const EVENTS = [
  ['started', '`call:started`', started],
  ['completed', '`call:completed`', completed],
  ['recording', '`call:recording-available`', recorded],
] as const;

/** Fields that no version of the interface names. */
const UNKNOWN = {
  fieldOfTomorrow: 'text',
  anotherField: { nested: [1, null, { deep: true }] },
};

export const events: Group = {
  name: 'events',
  title: 'Events and their fields',
  vectors: ({ one, several, attempt, callId }) => [
    ...EVENTS.flatMap(([name, title, body]) => [
      one('accept', name, `${title}.`, [SENTENCES.sameForAll], body(callId(name))),
      one(
        'accept',
        `${name}-with-unknown-fields`,
        `${title} with fields that the receiver does not know.`,
        [ignoreUnknownFields, growingBodies],
        body(callId(`${name}-with-unknown-fields`), UNKNOWN),
      ),
    ]),
    ...(['started', 'completed'] as const).flatMap((name) => [
      one(
        'accept',
        `${name}-without-phone-number`,
        `\`call:${name}\` without \`fromPhoneNumber\`, which is optional.`,
        [optionalPhoneNumber],
        JSON.stringify({
          eventName: `call:${name}`,
          callId: callId(`${name}-without-phone-number`),
        }),
      ),
      one(
        'accept',
        `${name}-with-phone-number`,
        `\`call:${name}\` with a \`fromPhoneNumber\`, whose fields are not shown.`,
        [optionalPhoneNumber],
        EVENTS[name === 'started' ? 0 : 1][2](callId(`${name}-with-phone-number`), {
          fromPhoneNumber: { anything: '+12025550100', list: [1, 2] },
        }),
      ),
    ]),
    one(
      'accept',
      'completed-without-call-id',
      '`call:completed` without `callId`, which is a newer field.',
      [newerCallId],
      JSON.stringify({ eventName: 'call:completed', fromPhoneNumber: {} }),
    ),
    several(
      'custom-payload',
      'A custom payload, which has no `eventName`. It is authentic, so it is acknowledged.',
      [customPayload, SENTENCES.acknowledge],
      [acknowledged(attempt('custom-payload', '{"text":"A call has ended","number":7}'))],
    ),
  ],
};
