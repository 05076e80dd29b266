import { refused } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';
import { refusal } from './refusal.ts';

const RAW = 'Verify the HMAC over the exact bytes that arrived, before you decode or parse them.';
const changeByte = (body: Buffer) => {
  const changed = Buffer.from(body);
  const at = changed.indexOf('check.user');
  changed[at] = (changed[at] ?? 0) ^ 2;
  return changed;
};

/** Bodies that are not the bytes that were signed. */
export const signedBodies: readonly Probe[] = [
  refusal({
    id: 'changed-body',
    title: 'One byte of the body is changed',
    spec: SPEC.rawBody,
    fix: RAW,
    weight: 10,
    change: (_lines, body) => ({ body: changeByte(body) }),
  }),
  refusal({
    id: 'reformatted-body',
    title: 'The same JSON in other bytes',
    spec: SPEC.rawBody,
    fix: RAW,
    weight: 5,
    change: (_lines, body) => ({
      body: Buffer.from(JSON.stringify(JSON.parse(body.toString()), undefined, 1)),
    }),
  }),
  refusal({
    id: 'appended-byte',
    title: 'A line feed is added to the body',
    spec: SPEC.rawBody,
    fix: RAW,
    weight: 3,
    change: (_lines, body) => ({ body: Buffer.concat([body, Buffer.from('\n')]) }),
  }),
  refusal({
    id: 'byte-order-mark',
    title: 'A byte order mark is added to the body',
    spec: SPEC.rawBody,
    fix: RAW,
    weight: 2,
    change: (_lines, body) => ({ body: Buffer.concat([Buffer.from('\ufeff'), body]) }),
  }),
  {
    id: 'replaced-bytes',
    group: 'signature',
    title: 'Bytes that are not UTF-8, signed as what they decode to',
    spec: SPEC.rawBody,
    fix: RAW,
    weight: 3,
    needs: ['secret'],
    provesRefusal: true,
    async run(receiver) {
      const { body } = receiver.refusedEvent();
      const [before = '', after = ''] = body.toString().split('check.user');
      const sent = Buffer.from(`${before}\u00ff${after}`, 'latin1');
      const delivery = receiver.sign(sent, { signed: Buffer.from(sent.toString('utf8')) });
      return refused(await receiver.send(delivery));
    },
  },
];
