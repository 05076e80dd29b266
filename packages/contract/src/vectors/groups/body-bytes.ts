import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { signedText } = SENTENCES;

/** Bodies that do not survive being parsed and written again, or being decoded and encoded. */
const SIGNED: [name: string, what: string, body: (callId: string) => string][] = [
  ['indented', 'is indented', (id) => JSON.stringify(JSON.parse(completed(id)), null, 2)],
  [
    'other-order',
    'has its fields in another order',
    (id) => `{"callId":"${id}","eventName":"call:completed"}`,
  ],
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
const CHANGED: [
  name: string,
  what: string,
  signed: (callId: string) => string,
  sent: (body: string) => string | Buffer,
][] = [
  [
    'rewritten',
    'an indented body was parsed and written without spaces',
    (id) => JSON.stringify(JSON.parse(completed(id)), null, 2),
    (body) => JSON.stringify(JSON.parse(body)),
  ],
  [
    'reordered',
    'the fields were put in another order',
    completed,
    (body) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as object).reverse())),
  ],
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
  vectors: ({ one, callId }) => [
    ...SIGNED.map(([name, what, body]) =>
      one('accept', name, `A signed body that ${what}.`, [signedText], body(callId(name))),
    ),
    ...CHANGED.map(([name, what, signed, sent]) => {
      const body = signed(callId(name));
      const description = `The body was changed after signing: ${what}.`;
      return one('refuse', name, description, [signedText], body, { sent: sent(body) });
    }),
  ],
};
