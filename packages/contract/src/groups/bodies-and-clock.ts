import type { BodyOf, Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { signedText, checkTimestamp, tolerance } = SENTENCES;
const { acknowledge, growingBodies, ignoreUnknownFields, optionalPhoneNumber, sameForAll } =
  SENTENCES;

/** The same fields in the opposite order. */
const reversed = (body: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as object).reverse()));

/** Bodies that do not survive being parsed and written again, or being decoded and encoded. */
const SIGNED = (
  completed: BodyOf,
): [name: string, what: string, body: (callId: string) => string][] => [
  ['indented', 'is indented', (id) => JSON.stringify(JSON.parse(completed(id)), null, 2)],
  ['other-order', 'has its fields in another order', (id) => reversed(completed(id))],
  ['utf-8', 'has characters outside of ASCII', (id) => completed(id, { note: 'Zoë ☎ 📞' })],
  [
    'escapes',
    'has characters that could be written without an escape',
    (id) => completed(id, { note: '@' }).replace('@', '\\u005a\\u006f\\u00eb \\ud83d\\udcde \\/'),
  ],
  [
    'decomposed',
    'has a letter whose accent is a character of its own',
    (id) => completed(id, { note: 'Zoe\u0308' }),
  ],
  [
    'numbers',
    'has numbers that are written differently after parsing',
    (id) => completed(id, { a: 0, b: 0 }).replace('"a":0,"b":0', '"a":1.0,"b":1e3'),
  ],
  [
    'large-number',
    'has an integer above 2^53',
    (id) => completed(id, { a: 0 }).replace('"a":0', '"a":9007199254740993'),
  ],
  [
    'carriage-returns',
    'has lines that end in CR LF',
    (id) => JSON.stringify(JSON.parse(completed(id)), null, 2).replaceAll('\n', '\r\n'),
  ],
  ['new-line-at-the-end', 'ends in a new line', (id) => `${completed(id)}\n`],
  ['space-before', 'begins with white space', (id) => ` \t${completed(id)}`],
];

/** What was signed, and what is sent: the same for whoever does not compare bytes. */
const CHANGED = (
  completed: BodyOf,
): [
  name: string,
  what: string,
  signed: (callId: string) => string,
  sent: (body: string) => string | Buffer,
][] => [
  [
    'rewritten',
    'an indented body was parsed and written without spaces',
    (id) => JSON.stringify(JSON.parse(completed(id)), null, 2),
    (body) => JSON.stringify(JSON.parse(body)),
  ],
  ['reordered', 'the fields were put in another order', completed, reversed],
  [
    'new-line-removed',
    'a new line at its end was removed',
    (id) => `${completed(id)}\n`,
    (body) => body.trim(),
  ],
  ['new-line-added', 'a new line was added at its end', completed, (body) => `${body}\n`],
  [
    'carriage-returns-removed',
    'its lines end in LF instead of CR LF',
    (id) => JSON.stringify(JSON.parse(completed(id)), null, 2).replaceAll('\n', '\r\n'),
    (body) => body.replaceAll('\r', ''),
  ],
  [
    'composed',
    'a letter and its accent were joined to one character',
    (id) => completed(id, { note: 'Zoe\u0308' }),
    (body) => body.normalize('NFC'),
  ],
  [
    'unescaped',
    'an escape was replaced by the character',
    (id) => completed(id, { note: '@' }).replace('@', '\\u00eb'),
    (body) => body.replace('\\u00eb', 'ë'),
  ],
  [
    'invalid-utf-8',
    'U+FFFD was replaced by the byte FF, which decodes to the same text',
    (id) => completed(id, { note: '\ufffd' }),
    (body) => {
      const bytes = Buffer.from(body);
      const at = bytes.indexOf('\ufffd');
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(0xff), bytes.subarray(at + 3)]);
    },
  ],
  [
    'latin-1',
    'it was converted from UTF-8 to Latin-1',
    (id) => completed(id, { note: 'Zoë' }),
    (body) => Buffer.from(body, 'latin1'),
  ],
  ['emptied', 'it was removed', completed, () => ''],
  ['cut-off', 'its last byte was removed', completed, (body) => body.slice(0, -1)],
];

export const bodyBytes: Group = {
  name: 'body-bytes',
  title: 'The body, byte for byte',
  vectors: ({ one, completed, callId }) => [
    ...SIGNED(completed).map(([name, what, body]) =>
      one('accept', name, `A signed body that ${what}.`, [signedText], {
        body: body(callId(name)),
      }),
    ),
    ...CHANGED(completed).map(([name, what, signed, sent]) => {
      const body = signed(callId(name));
      const description = `The body was changed after signing: ${what}.`;
      return one('reject', name, description, [signedText], { body, sent: sent(body) });
    }),
  ],
};

const DAY = 86_400;

/** Seconds between the signature and the arrival. */
const AGES: [name: string, when: string, age: number][] = [
  ['4-minutes-ago', '4 minutes ago', 240],
  ['299-seconds-ago', '299 s ago', 299],
  ['300-seconds-ago', '300 s ago, which is not more than 5 minutes', 300],
  ['301-seconds-ago', '301 s ago', 301],
  ['6-minutes-ago', '6 minutes ago', 360],
  ['a-day-ago', 'a day ago', DAY],
  ['4-minutes-ahead', '4 minutes ahead of the clock', -240],
  ['299-seconds-ahead', '299 s ahead of the clock', -299],
  ['300-seconds-ahead', '300 s ahead of the clock, which is not more than 5 minutes', -300],
  ['301-seconds-ahead', '301 s ahead of the clock', -301],
  ['6-minutes-ahead', '6 minutes ahead of the clock', -360],
  ['a-day-ahead', 'a day ahead of the clock', -DAY],
];

/** How far from the limit a vector is that a real clock may run through, in seconds. */
const MARGIN = 60;
const needsExactClock = (age: number) => Math.abs(Math.abs(age) - 300) < MARGIN;

export const clock: Group = {
  name: 'clock',
  title: 'Timestamps and the clock',
  vectors({ one, source }) {
    const seconds = source.now / 1000;
    const texts: [name: string, what: string, text: string][] = [
      ['milliseconds', 'is in milliseconds, not in seconds', String(source.now)],
      ['date', 'is a date, not a number', new Date(source.now).toISOString()],
      ['words', 'is not a number', 'now'],
      ['nan', 'is `NaN`', 'NaN'],
      ['infinity', 'is `Infinity`', 'Infinity'],
      ['letters-after', 'has letters after the digits, so it is not a number', `${seconds}abc`],
      ['letters-before', 'has letters before the digits', `t${seconds}`],
      ['two-numbers', 'has two numbers', `${seconds} ${seconds}`],
      ['negative', 'is negative', `-${seconds}`],
      ['zero', 'is 0', '0'],
    ];
    return [
      ...AGES.map(([name, when, age]) =>
        one(
          Math.abs(age) <= 300 ? 'accept' : 'reject',
          name,
          `Signed ${when}.`,
          [checkTimestamp, tolerance],
          { signed: -age, exactClock: needsExactClock(age) },
        ),
      ),
      ...texts.map(([name, what, timestamp]) =>
        one(
          'reject',
          name,
          `The timestamp ${what}. The signature covers it and is right.`,
          [checkTimestamp],
          { timestamp },
        ),
      ),
    ];
  },
};

/** Fields that no version of the interface names. */
const UNKNOWN = {
  fieldOfTomorrow: 'text',
  anotherField: { nested: [1, null, { deep: true }] },
};

export const events: Group = {
  name: 'events',
  title: 'Events and their fields',
  vectors({ one, started, completed, recorded, callId }) {
    const calls = [
      ['started', '`call:started`', started],
      ['completed', '`call:completed`', completed],
    ] as const;
    return [
      ...[...calls, ['recording', '`call:recording-available`', recorded] as const].flatMap(
        ([name, title, body]) => [
          one('accept', name, `${title}.`, [sameForAll, acknowledge], { body: body(callId(name)) }),
          one(
            'accept',
            `${name}-with-unknown-fields`,
            `${title} with fields that the receiver does not know.`,
            [ignoreUnknownFields, growingBodies],
            { body: body(callId(`${name}-with-unknown-fields`), UNKNOWN) },
          ),
        ],
      ),
      ...calls.map(([name, title, body]) =>
        one(
          'accept',
          `${name}-without-phone-number`,
          `${title} without \`fromPhoneNumber\`, which is optional.`,
          [optionalPhoneNumber],
          { body: body(callId(`${name}-without-phone-number`)) },
        ),
      ),
    ];
  },
};
