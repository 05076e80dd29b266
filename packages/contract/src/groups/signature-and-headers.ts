import { createHmac } from 'node:crypto';
import { HEADERS, hmac, hmacOf, type AttemptChanges, type Signed } from '../attempt.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';
import type { Sentence } from '../vector.ts';

const {
  requireHeaders,
  compare,
  signedText,
  webhookId,
  unsignedActions,
  key,
  secretFormat,
  rotation,
} = SENTENCES;

const base64 = (bytes: Buffer) => bytes.toString('base64');
const valid = (signed: Signed) => `v1,${base64(hmacOf(signed))}`;

/** A signature that is wrong, and why. */
type WrongSignature = [
  name: string,
  description: string,
  why: readonly Sentence[],
  signature: (signed: Signed) => string,
];

/** The last digit before the padding, with bits set that decoding drops. */
const otherSpelling = (text: string) => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const last = digits.indexOf(text.charAt(42));
  return `${text.slice(0, 42)}${digits.charAt(last | 1)}=`;
};

/** Signatures over a wrong text. */
const WRONG_TEXTS: [
  name: string,
  description: string,
  why: readonly Sentence[],
  text: (signed: Signed) => (string | Buffer)[],
][] = [
  ['body-only', 'The signature covers the body only.', [signedText], ({ body }) => [body]],
  [
    'no-webhook-id',
    'The signature covers the timestamp and the body, but not the webhook id.',
    [signedText, webhookId],
    ({ timestamp, body }) => [`${timestamp}.`, body],
  ],
  [
    'no-timestamp',
    'The signature covers the webhook id and the body, but not the timestamp.',
    [signedText, SENTENCES.timestamp],
    ({ webhookId: id, body }) => [`${id}.`, body],
  ],
  [
    'no-body',
    'The signature covers the webhook id and the timestamp, but not the body.',
    [signedText],
    ({ webhookId: id, timestamp }) => [`${id}.${timestamp}.`],
  ],
  [
    'swapped',
    'The signed text has the timestamp before the webhook id.',
    [signedText],
    ({ webhookId: id, timestamp, body }) => [`${timestamp}.${id}.`, body],
  ],
  [
    'other-separator',
    'The signed text is joined with colons instead of dots.',
    [signedText],
    ({ webhookId: id, timestamp, body }) => [`${id}:${timestamp}:`, body],
  ],
];

/** Signatures over a wrong text, or with a wrong algorithm. */
const COMPUTED: WrongSignature[] = [
  ...WRONG_TEXTS.map(([name, description, why, text]): WrongSignature => [
    name,
    description,
    why,
    (signed) => `v1,${base64(hmac(signed.key, ...text(signed)))}`,
  ]),
  [
    'empty-key',
    'The signature is an HMAC with an empty key.',
    [key],
    (signed) => valid({ ...signed, key: Buffer.alloc(0) }),
  ],
  ...['sha1', 'sha512'].map((algorithm): WrongSignature => [
    algorithm,
    `The signature is an HMAC with ${algorithm.toUpperCase()}.`,
    [SENTENCES.hmac],
    ({ webhookId: id, timestamp, body, key: k }) =>
      `v1,${base64(createHmac(algorithm, k).update(`${id}.${timestamp}.`).update(body).digest())}`,
  ]),
];

/** The right signature, which is `v1,` and the base64 of the HMAC, written in another way. */
const WRITTEN: [string, string, Sentence, (right: string) => string][] = [
  ['no-version', 'The signature lacks `v1,`.', requireHeaders, (right) => right],
  ['version-2', 'The right signature after `v2,`.', requireHeaders, (right) => `v2,${right}`],
  ['capital-version', 'The right signature after `V1,`.', requireHeaders, (right) => `V1,${right}`],
  ['equals-sign', 'The right signature after `v1=`.', requireHeaders, (right) => `v1=${right}`],
  ['empty', 'Nothing after `v1,`.', compare, () => 'v1,'],
  [
    'hex',
    'The right HMAC in hexadecimal digits.',
    SENTENCES.hmac,
    (right) => `v1,${Buffer.from(right, 'base64').toString('hex')}`,
  ],
  [
    'lower-case',
    'The right signature in lower case.',
    compare,
    (right) => `v1,${right.toLowerCase()}`,
  ],
  [
    'first-half',
    'The first half of the right signature.',
    compare,
    (right) => `v1,${right.slice(0, 22)}`,
  ],
  [
    'one-character',
    'The right signature with another first character.',
    compare,
    (right) => `v1,${right.startsWith('A') ? 'B' : 'A'}${right.slice(1)}`,
  ],
  [
    'no-padding',
    'The right signature without its `=`.',
    compare,
    (right) => `v1,${right.slice(0, -1)}`,
  ],
  [
    'other-spelling',
    'Base64 that decodes to the right HMAC, but is not how it is written.',
    compare,
    (right) => `v1,${otherSpelling(right)}`,
  ],
  [
    'more-after',
    'The right signature, and another character after it.',
    compare,
    (right) => `v1,${right}A`,
  ],
];

export const signature: Group = {
  name: 'signature',
  title: 'Signatures',
  vectors: ({ one, completed, callId, source }) => [
    one('accept', 'valid', 'A valid delivery.', [signedText, SENTENCES.acknowledge]),
    ...COMPUTED.map(([name, description, why, sign]) =>
      one('reject', name, description, why, { signature: sign }),
    ),
    ...WRITTEN.map(([name, description, why, write]) =>
      one('reject', name, description, [why], {
        signature: (signed) => write(base64(hmacOf(signed))),
      }),
    ),
    one('reject', 'other-secret', 'Signed with a secret that the receiver does not have.', [key], {
      secret: source.secretOf('stranger', 24),
    }),
    one('reject', 'other-webhook-id', 'The webhook id was replaced after signing.', [webhookId], {
      headers: replaced(HEADERS.id, source.uuid('signature/replaced')),
    }),
    one(
      'reject',
      'other-timestamp',
      'The timestamp was replaced after signing by one that is also recent.',
      [SENTENCES.timestamp],
      { signed: -60, headers: replaced(HEADERS.timestamp, String(source.now / 1000)) },
    ),
    one('reject', 'other-body', 'The body was replaced after signing.', [signedText], {
      sent: completed(callId('other')),
    }),
  ],
};

type ChangeHeaders = NonNullable<AttemptChanges['headers']>;

const replaced =
  (replaced: string, by: string): ChangeHeaders =>
  (headers) =>
    headers.map(([name, value]) => [name, name === replaced ? by : value]);

const without = (...names: string[]): AttemptChanges => ({
  headers: (headers) => headers.filter(([name]) => !names.includes(name)),
});
const renamed = (rename: (name: string) => string): AttemptChanges => ({
  headers: (headers) => headers.map(([name, value]) => [rename(name), value]),
});

const NAMES = [
  ['webhook-id', HEADERS.id],
  ['timestamp', HEADERS.timestamp],
  ['signature', HEADERS.signature],
] as const;

export const headers: Group = {
  name: 'headers',
  title: 'Headers',
  vectors: ({ one }) => [
    ...NAMES.flatMap(([short, name]) => [
      one('reject', `no-${short}`, `There is no ${name}.`, [requireHeaders], without(name)),
      one('reject', `empty-${short}`, `${name} is empty.`, [requireHeaders], {
        headers: replaced(name, ''),
      }),
    ]),
    one(
      'reject',
      'none',
      'None of the three headers, as from an action that was saved before signing was introduced.',
      [requireHeaders, unsignedActions],
      without(...Object.values(HEADERS)),
    ),
    one(
      'reject',
      'other-names',
      'The headers have the names of Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature.',
      [requireHeaders],
      renamed((name) =>
        name
          .toLowerCase()
          .replace('x-service-webhook-', 'x-service-')
          .replace('x-service', 'webhook'),
      ),
    ),
    ...(['toLowerCase', 'toUpperCase'] as const).map((change) => {
      const which = change === 'toLowerCase' ? 'lower' : 'upper';
      return one(
        'accept',
        `${which}-case`,
        `The names of the headers are in ${which} case. HTTP does not distinguish them.`,
        [requireHeaders],
        renamed((name) => name[change]()),
      );
    }),
  ],
};

/** Lengths with every kind of padding; 64 bytes are a block of SHA-256, and longer keys are hashed. */
const LENGTHS = [24, 25, 32, 64, 65, 100];

export const secrets: Group = {
  name: 'secrets',
  title: 'Secrets and their rotation',
  vectors({ one, source }) {
    const [before, after] = [source.secretOf('before', 32), source.secretOf('after', 32)];
    const symbols = withSymbols((name) => source.secretOf(name, 32));
    return [
      ...LENGTHS.map((length) => {
        const secret = source.secretOf(`of-${length}-bytes`, length);
        const name = `${length}-bytes`;
        return one(
          'accept',
          name,
          `Signed with a secret of ${length} bytes.`,
          [key, secretFormat],
          { secret, secrets: [secret] },
        );
      }),
      one(
        'accept',
        'symbols',
        'The base64 of the secret has both `+` and `/`.',
        [key, secretFormat],
        { secret: symbols, secrets: [symbols] },
      ),
      one(
        'reject',
        'prefix-kept',
        'Signed with the whole text of the secret, `whsec_` included, as the key.',
        [key],
        { signature: (signed) => valid({ ...signed, key: Buffer.from(source.secret) }) },
      ),
      one(
        'reject',
        'not-decoded',
        'Signed with the base64 text of the secret as the key, without decoding it.',
        [key],
        {
          signature: (signed) =>
            valid({ ...signed, key: Buffer.from(source.secret.slice('whsec_'.length)) }),
        },
      ),
      one(
        'reject',
        'not-updated',
        'Signed with the new secret after a rotation. The receiver only has the old one.',
        [rotation],
        { secret: after, secrets: [before] },
      ),
      one(
        'accept',
        'updated',
        'Signed with the new secret after a rotation. The receiver was updated.',
        [rotation],
        { secret: after, secrets: [after] },
      ),
      one(
        'reject',
        'rotated-away',
        'Signed with the old secret. The receiver only has the new one.',
        [key, rotation],
        { secret: before, secrets: [after] },
      ),
      one(
        'accept',
        'first-of-two',
        'Signed with the first of the two secrets that the receiver has.',
        [key],
        { secret: after, secrets: [after, before] },
      ),
      one(
        'accept',
        'second-of-two',
        'Signed with the second of the two secrets that the receiver has, such as the secret of another webhook action.',
        [key],
        { secret: before, secrets: [after, before] },
      ),
      one(
        'reject',
        'neither-of-two',
        'Signed with a secret that is neither of the two that the receiver has.',
        [key],
        { secret: source.secretOf('unknown', 32), secrets: [after, before] },
      ),
    ];
  },
};

/** The first secret with both symbols of base64. */
function withSymbols(secretOf: (name: string) => string): string {
  for (let at = 0; ; at++) {
    const secret = secretOf(`symbols-${at}`);
    if (secret.includes('+') && secret.includes('/')) return secret;
  }
}
