import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { callBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

const PLANTED = {
  toPhoneNumber: '+49 171 5550123',
  recipientEmail: 'ada@lovelace.example',
  recipientName: 'Ada Lovelace',
};
const NEEDLES = ['5550123', 'ada@lovelace', 'Lovelace', 'Ada ', 'whsec_'];

/** Logs, outcomes and answers hold nothing personal and no secret. */
export function privacy({ start }: AdapterTestContext): void {
  it('logs, outcomes and answers never hold what was planted in bodies and errors', async () => {
    const started = await start({
      on: {
        'call:completed': () => {
          throw new Error(
            `no contact for ${PLANTED.recipientName} at ${PLANTED.toPhoneNumber}, ${PLANTED.recipientEmail}; ${started.secret}`,
          );
        },
      },
    });
    const { sender, lines, outcomes } = started;
    const replies = [
      await sender.post(callBody('c1', 'call:completed', PLANTED)),
      await sender.post(
        callBody('c1', 'call:completed', { ...PLANTED, fromPhoneNumber: 'Ada Lovelace' }),
      ),
      await sender.post(`{"recipientName":"Ada Lovelace",`),
      await sender.raw(callBody('c1', 'call:completed', PLANTED)),
    ];
    expect(replies.map(({ outcome }) => outcome)).toEqual([
      'handler-failed',
      'handler-failed',
      'invalid-payload',
      'missing-header',
    ]);
    expect(lines).toHaveLength(4);
    const told = inspect({ lines, outcomes, replies }, { depth: 10 });
    for (const needle of NEEDLES) expect(told).not.toContain(needle);
  });
}
