import { HEADERS } from '../attempt.ts';
import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';
import { COMPUTED, WRITTEN } from './wrong-signatures.ts';

const { signedText, key, webhookId } = SENTENCES;

export const signature: Group = {
  name: 'signature',
  title: 'Signatures',
  vectors({ one, callId, source }) {
    const body = completed(callId('call'));
    return [
      one('accept', 'valid', 'A valid delivery.', [signedText, SENTENCES.acknowledge], body),
      ...[...COMPUTED, ...WRITTEN].map(([name, description, why, sign]) =>
        one('refuse', name, description, why, body, { signature: sign }),
      ),
      one(
        'refuse',
        'other-secret',
        'Signed with a secret that the receiver does not have.',
        [key],
        body,
        {
          secret: source.secretOf('stranger', 24),
        },
      ),
      one(
        'refuse',
        'other-webhook-id',
        'The webhook id was replaced after signing.',
        [webhookId],
        body,
        {
          headers: (headers) =>
            headers.map(([name, value]) => [
              name,
              name === HEADERS.id ? source.uuid('signature/replaced') : value,
            ]),
        },
      ),
      one(
        'refuse',
        'other-timestamp',
        'The timestamp was replaced after signing by one that is also recent.',
        [SENTENCES.timestamp],
        body,
        {
          signed: -60,
          headers: (headers) =>
            headers.map(([name, value]) => [
              name,
              name === HEADERS.timestamp ? String(source.now / 1000) : value,
            ]),
        },
      ),
      one('refuse', 'other-body', 'The body was replaced after signing.', [signedText], body, {
        sent: completed(callId('other')),
      }),
    ];
  },
};
