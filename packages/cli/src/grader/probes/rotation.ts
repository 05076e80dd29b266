import { accepted, refused } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';

const needs = ['secret', 'second-secret'] as const;
const FIX = 'Accept the old and the new secret while a secret is rotated.';

export const rotation: readonly Probe[] = [
  {
    id: 'second-secret',
    group: 'rotation',
    title: 'A delivery that is signed with the second secret',
    spec: SPEC.rotation,
    fix: FIX,
    weight: 6,
    needs,
    async run(receiver) {
      return accepted(await receiver.send(receiver.signAgain(receiver.event().body)));
    },
  },
  {
    id: 'replay-after-rotation',
    group: 'rotation',
    title: 'A webhook id again, signed with the second secret',
    spec: SPEC.replay,
    fix: 'Remember webhook ids for all secrets together.',
    weight: 1,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const { body } = receiver.event();
      const first = receiver.sign(body);
      const { webhookId } = first;
      await receiver.send(first);
      return refused(await receiver.send(receiver.signAgain(body, { webhookId })));
    },
  },
];
