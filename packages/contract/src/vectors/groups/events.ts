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
    ...EVENTS.slice(0, 2).map(([name, title, body]) =>
      one(
        'accept',
        `${name}-without-phone-number`,
        `${title} without \`fromPhoneNumber\`, which is optional.`,
        [optionalPhoneNumber],
        body(callId(`${name}-without-phone-number`)),
      ),
    ),
  ],
};
