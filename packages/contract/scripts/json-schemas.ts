import { EVENTS } from './events.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const idOf = (name: string) => `urn:call-webhooks:schema:1:${name}`;
const fileOf = (name: string) => name.replace(':', '-');

/** JSON Schema (2020-12) of each event, and of any of them, by file. */
export const jsonSchemas: ReadonlyMap<string, object> = new Map([
  ...EVENTS.map(({ name, schema, example }): [string, object] => [
    `${fileOf(name)}.schema.json`,
    { $schema: DIALECT, $id: idOf(fileOf(name)), ...schema, examples: [example] },
  ]),
  [
    'event.schema.json',
    {
      $schema: DIALECT,
      $id: idOf('event'),
      title: 'Event',
      description:
        'One of the three events. A custom payload, or an event that is added later, does not match.',
      oneOf: EVENTS.map(({ title }) => ({ $ref: `#/$defs/${title}` })),
      $defs: Object.fromEntries(EVENTS.map(({ title, schema }) => [title, schema])),
    },
  ],
]);
