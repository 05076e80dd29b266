import type { SigningOptions } from '../delivery.ts';
import { refused } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { signatureLines, type RequestChanges } from '../request-bytes.ts';
import type { SpecSentence } from '../spec.ts';
import type { TestedReceiver } from '../tested-receiver.ts';

/** The three header lines of a signature. */
export type Lines = readonly [id: string, timestamp: string, signature: string];

/** A delivery that is not authentic. */
export interface Refusal {
  readonly id: string;
  readonly title: string;
  readonly spec: SpecSentence;
  readonly fix: string;
  readonly weight: number;
  /** How it is signed. */
  readonly sign?: (receiver: TestedReceiver, body: Buffer) => Partial<SigningOptions>;
  readonly change?: (lines: Lines, body: Buffer) => RequestChanges;
}

/** A probe that passes if the delivery is refused. */
export const refusal = ({ sign, change, ...rest }: Refusal): Probe => ({
  ...rest,
  group: 'signature',
  needs: rest.id === 'unsigned' ? [] : ['secret'],
  provesRefusal: true,
  async run(receiver) {
    const { body } = receiver.refusedEvent();
    const delivery = receiver.sign(body, sign?.(receiver, body));
    return refused(await receiver.send(delivery, change?.(signatureLines(delivery), body)));
  },
});
