import { randomUUID } from 'node:crypto';
import { isAcknowledged, notedUnless } from '../findings.ts';
import type { Probe } from '../probe.ts';
import type { RequestChanges } from '../request-bytes.ts';
import { SPEC } from '../spec.ts';
import { refusal, type Lines } from './refusal.ts';
import { respelled } from './respelled.ts';

const REQUIRE = 'Refuse a delivery that lacks one of the three headers, such as with 401.';
const COMPARE = 'Compute the signature yourself and compare the whole of it.';
const signatureOf = (line: string, change: (value: string) => string): string =>
  line.replace(/: (.*)$/, (_, value: string) => `: ${change(value)}`);
const withSignature =
  (change: (value: string) => string) =>
  ([id, time, signature]: Lines): RequestChanges => ({
    signed: [id, time, signatureOf(signature, change)],
  });

/** Headers that are missing, forged or malformed. */
export const signatures: readonly Probe[] = [
  refusal({
    id: 'unsigned',
    title: 'No signature headers',
    spec: SPEC.headers,
    fix: REQUIRE,
    weight: 10,
    change: () => ({ signed: [] }),
  }),
  refusal({
    id: 'no-webhook-id',
    title: 'No webhook id',
    spec: SPEC.headers,
    fix: REQUIRE,
    weight: 3,
    // An empty id is what a missing one may be read as.
    sign: () => ({ webhookId: '' }),
    change: ([, time, signature]) => ({ signed: [time, signature] }),
  }),
  refusal({
    id: 'no-timestamp',
    title: 'No timestamp',
    spec: SPEC.headers,
    fix: REQUIRE,
    weight: 3,
    sign: () => ({ timestamp: '' }),
    change: ([id, , signature]) => ({ signed: [id, signature] }),
  }),
  refusal({
    id: 'no-signature',
    title: 'No signature',
    spec: SPEC.headers,
    fix: REQUIRE,
    weight: 5,
    change: ([id, time]) => ({ signed: [id, time] }),
  }),
  refusal({
    id: 'forged',
    title: 'Signed with an unknown secret',
    spec: SPEC.compare,
    fix: COMPARE,
    weight: 10,
    sign: () => ({ key: Buffer.alloc(24, 7) }),
  }),
  refusal({
    id: 'empty-key',
    title: 'Signed with an empty key',
    spec: SPEC.key,
    fix: 'Refuse to start without a secret, and never fall back to an empty one.',
    weight: 3,
    sign: () => ({ key: Buffer.alloc(0) }),
  }),
  refusal({
    id: 'key-as-text',
    title: 'Signed with the text of the secret, not decoded',
    spec: SPEC.key,
    fix: 'Remove whsec_ and decode the base64: the key is the bytes.',
    weight: 2,
    sign: ({ options }) => ({ key: Buffer.from(options.secret ?? '') }),
  }),
  refusal({
    id: 'changed-id',
    title: 'Another webhook id than the signed one',
    spec: SPEC.compare,
    fix: 'The webhook id is part of the signed string.',
    weight: 5,
    change: ([id, time, signature]) => ({
      signed: [signatureOf(id, () => randomUUID()), time, signature],
    }),
  }),
  refusal({
    id: 'changed-timestamp',
    title: 'Another timestamp than the signed one',
    spec: SPEC.compare,
    fix: 'The timestamp is part of the signed string.',
    weight: 5,
    sign: (receiver) => ({ timestamp: receiver.now() - 3 }),
    change: ([id, time, signature]) => ({
      signed: [id, signatureOf(time, (value) => String(Number(value) + 1)), signature],
    }),
  }),
  refusal({
    id: 'no-version',
    title: 'The signature without v1,',
    spec: SPEC.headers,
    fix: 'Require that the header starts with v1, and refuse anything else.',
    weight: 2,
    change: withSignature((value) => value.slice(3)),
  }),
  refusal({
    id: 'other-version',
    title: 'The signature with v2,',
    spec: SPEC.headers,
    fix: 'Require that the header starts with v1, and refuse anything else.',
    weight: 2,
    change: withSignature((value) => value.replace('v1', 'v2')),
  }),
  refusal({
    id: 'empty-signature',
    title: 'v1, and nothing after it',
    spec: SPEC.compare,
    fix: COMPARE,
    weight: 5,
    change: withSignature(() => 'v1,'),
  }),
  refusal({
    id: 'truncated-signature',
    title: 'The first half of the signature',
    spec: SPEC.compare,
    fix: COMPARE,
    weight: 5,
    change: withSignature((value) => value.slice(0, 24)),
  }),
  refusal({
    id: 'respelled-signature',
    title: 'The signature in another spelling of base64',
    spec: SPEC.compare,
    fix: 'Compare the base64 texts, not what they decode to.',
    weight: 1,
    change: withSignature(respelled),
  }),
  {
    id: 'joined-ids',
    group: 'signature',
    title: 'Two webhook ids that a proxy joined by a comma',
    spec: SPEC.notShown,
    fix: 'Accept one webhook id only, so that no proxy can make it ambiguous.',
    weight: 0,
    needs: ['secret'],
    async run(receiver) {
      const webhookId = `${randomUUID()}, ${randomUUID()}`;
      const answer = await receiver.send(receiver.sign(receiver.event().body, { webhookId }));
      return notedUnless((one) => !isAcknowledged(one), answer);
    },
  },
];
