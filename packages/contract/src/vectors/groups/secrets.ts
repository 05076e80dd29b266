import { hmacOf } from '../attempt.ts';
import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { key, secretFormat, rotation } = SENTENCES;

/** Lengths with every kind of padding; 64 bytes are a block of SHA-256, and longer keys are hashed. */
const LENGTHS = [24, 25, 32, 64, 65, 100];

export const secrets: Group = {
  name: 'secrets',
  title: 'Secrets and their rotation',
  vectors({ one, callId, source }) {
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
          completed(callId(name)),
          { secret, secrets: [secret] },
        );
      }),
      one(
        'accept',
        'symbols',
        'The base64 of the secret has both `+` and `/`.',
        [key, secretFormat],
        completed(callId('symbols')),
        { secret: symbols, secrets: [symbols] },
      ),
      ...keysInText(source.secret).map(([name, description, bytes]) =>
        one('refuse', name, description, [key], completed(callId(name)), {
          signature: (signed) =>
            `v1,${hmacOf({ ...signed, key: Buffer.from(bytes) }).toString('base64')}`,
        }),
      ),
      one(
        'refuse',
        'not-updated',
        'Signed with the new secret after a rotation. The receiver only has the old one.',
        [rotation],
        completed(callId('not-updated')),
        { secret: after, secrets: [before] },
      ),
      one(
        'accept',
        'updated',
        'Signed with the new secret after a rotation. The receiver was updated.',
        [rotation],
        completed(callId('updated')),
        { secret: after, secrets: [after] },
      ),
      one(
        'refuse',
        'rotated-away',
        'Signed with the old secret. The receiver only has the new one.',
        [key, rotation],
        completed(callId('rotated-away')),
        { secret: before, secrets: [after] },
      ),
    ];
  },
};

const keysInText = (secret: string): [name: string, description: string, key: string][] => [
  [
    'prefix-kept',
    'Signed with the whole text of the secret, `whsec_` included, as the key.',
    secret,
  ],
  [
    'not-decoded',
    'Signed with the base64 text of the secret as the key, without decoding it.',
    secret.slice('whsec_'.length),
  ],
];

/** The first secret with both symbols of base64. */
function withSymbols(secretOf: (name: string) => string): string {
  for (let at = 0; ; at++) {
    const secret = secretOf(`symbols-${at}`);
    if (secret.includes('+') && secret.includes('/')) return secret;
  }
}
