import { createHmac } from 'node:crypto';
import { hmac, hmacOf, type Signed } from '../attempt.ts';
import { SENTENCES } from '../sentences.ts';
import type { Sentence } from '../vector.ts';

const { requireHeaders, compare, signedText, hmac: hmacSentence, webhookId } = SENTENCES;

const base64 = (bytes: Buffer) => bytes.toString('base64');
const valid = (signed: Signed) => `v1,${base64(hmacOf(signed))}`;

/** A signature that is wrong, and why. */
export type WrongSignature = [
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

/** Signatures over a wrong text, or with a wrong algorithm. */
export const COMPUTED: WrongSignature[] = [
  [
    'body-only',
    'The signature covers the body only.',
    [signedText],
    ({ key: k, body }) => `v1,${base64(hmac(k, body))}`,
  ],
  [
    'no-webhook-id',
    'The signature covers the timestamp and the body, but not the webhook id.',
    [signedText, webhookId],
    ({ key: k, timestamp, body }) => `v1,${base64(hmac(k, `${timestamp}.`, body))}`,
  ],
  [
    'no-timestamp',
    'The signature covers the webhook id and the body, but not the timestamp.',
    [signedText, SENTENCES.timestamp],
    (signed) => `v1,${base64(hmac(signed.key, `${signed.webhookId}.`, signed.body))}`,
  ],
  [
    'no-body',
    'The signature covers the webhook id and the timestamp, but not the body.',
    [signedText],
    (signed) => `v1,${base64(hmac(signed.key, `${signed.webhookId}.${signed.timestamp}.`))}`,
  ],
  [
    'swapped',
    'The signed text has the timestamp before the webhook id.',
    [signedText],
    (signed) =>
      `v1,${base64(hmac(signed.key, `${signed.timestamp}.${signed.webhookId}.`, signed.body))}`,
  ],
  [
    'other-separator',
    'The signed text is joined with colons instead of dots.',
    [signedText],
    (signed) =>
      `v1,${base64(hmac(signed.key, `${signed.webhookId}:${signed.timestamp}:`, signed.body))}`,
  ],
  [
    'empty-key',
    'The signature is an HMAC with an empty key.',
    [SENTENCES.key],
    (signed) => valid({ ...signed, key: Buffer.alloc(0) }),
  ],
  ...['sha1', 'sha512'].map((algorithm): WrongSignature => [
    algorithm,
    `The signature is an HMAC with ${algorithm.toUpperCase()}.`,
    [hmacSentence],
    ({ webhookId: id, timestamp, body, key: k }) =>
      `v1,${base64(createHmac(algorithm, k).update(`${id}.${timestamp}.`).update(body).digest())}`,
  ]),
];

/** The right HMAC, written in another way. */
export const WRITTEN: WrongSignature[] = [
  [
    'no-version',
    'The signature lacks `v1,`.',
    [requireHeaders],
    (signed) => base64(hmacOf(signed)),
  ],
  [
    'version-2',
    'The right signature after `v2,`.',
    [requireHeaders],
    (signed) => `v2,${base64(hmacOf(signed))}`,
  ],
  [
    'capital-version',
    'The right signature after `V1,`.',
    [requireHeaders],
    (signed) => `V1,${base64(hmacOf(signed))}`,
  ],
  [
    'equals-sign',
    'The right signature after `v1=`.',
    [requireHeaders],
    (signed) => `v1=${base64(hmacOf(signed))}`,
  ],
  ['empty', 'Nothing after `v1,`.', [compare], () => 'v1,'],
  [
    'hex',
    'The right HMAC in hexadecimal digits.',
    [hmacSentence],
    (signed) => `v1,${hmacOf(signed).toString('hex')}`,
  ],
  [
    'lower-case',
    'The right signature in lower case.',
    [compare],
    (signed) => `v1,${base64(hmacOf(signed)).toLowerCase()}`,
  ],
  [
    'first-half',
    'The first half of the right signature.',
    [compare],
    (signed) => valid(signed).slice(0, 25),
  ],
  [
    'one-character',
    'The right signature with another first character.',
    [compare],
    (signed) => valid(signed).replace(/^v1,(.)/, (_, first) => (first === 'A' ? 'v1,B' : 'v1,A')),
  ],
  [
    'no-padding',
    'The right signature without its `=`.',
    [compare],
    (signed) => valid(signed).replace('=', ''),
  ],
  [
    'other-spelling',
    'Base64 that decodes to the right HMAC, but is not how it is written.',
    [compare],
    (signed) => `v1,${otherSpelling(base64(hmacOf(signed)))}`,
  ],
  [
    'more-after',
    'The right signature, and another character after it.',
    [compare],
    (signed) => `${valid(signed)}A`,
  ],
];
