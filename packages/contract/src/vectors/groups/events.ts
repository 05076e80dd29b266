import { completed, recorded, started } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { acknowledge, growingBodies, ignoreUnknownFields, optionalPhoneNumber, sameForAll } =
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
  vectors: ({ one, callId }) => [
    ...EVENTS.flatMap(([name, title, body]) => [
      one('accept', name, `${title}.`, [sameForAll, acknowledge], body(callId(name))),
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
  ],
};
