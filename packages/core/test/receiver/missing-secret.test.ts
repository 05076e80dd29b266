import { describe, expect, it } from '@jest/globals';
import { createReceiver, generateSecret, verify, type ReceiverOptions } from '../../src/index.ts';
import { LastVerified } from '../../src/signature/secrets.ts';
import {
  delivery,
  Lines,
  NOW,
  OTHER_SECRET,
  OTHER_SECRET_ID,
  RECORDING,
  SECRET,
  SECRET_ID,
  STARTED,
} from '../support.ts';

const FOREIGN = generateSecret();
const MISSING = 'its secret may be missing: each webhook action has its own';
const NOTHING_YET = 'No delivery has been verified since the start';

/** The lines that deliveries with these secrets cause, of a receiver that has others. */
async function linesOf(options: Pick<ReceiverOptions, 'secret'>, ...signers: string[]) {
  const logger = new Lines();
  const { receive } = createReceiver({
    ...options,
    logger,
    now: () => NOW,
    onUnhandled: () => undefined,
  });
  for (const [index, secret] of signers.entries())
    await receive(await delivery(index % 2 ? RECORDING : STARTED, { secret }));
  return logger.entries.map(({ message }) => message);
}

describe('the line of a delivery that no configured secret signed', () => {
  it('says how many there are, and that one may be missing, before any delivery was verified', async () => {
    const [one] = await linesOf({ secret: SECRET }, FOREIGN);
    expect(one).toContain(`The only configured secret (${SECRET_ID}) does not match`);
    expect(one).toContain(`${NOTHING_YET}, so the secret of this action may be missing`);
    const [two] = await linesOf({ secret: `${SECRET},${OTHER_SECRET}` }, FOREIGN);
    expect(two).toContain(
      `None of the 2 configured secrets (${SECRET_ID}, ${OTHER_SECRET_ID}) matches`,
    );
  });

  it('leaves the rotation open once deliveries were verified', async () => {
    for (const secret of [SECRET, () => SECRET]) {
      const lines = await linesOf({ secret }, SECRET, FOREIGN);
      expect(lines).toEqual([expect.stringContaining(MISSING)]);
      expect(lines[0]).toContain('and so does the recording webhook. Otherwise, check that it was');
      expect(lines[0]).not.toContain(NOTHING_YET);
    }
  });

  it('says nothing of the start in verify, which knows of no other delivery', async () => {
    const error = await verify(await delivery(STARTED, { secret: FOREIGN }), {
      secret: [SECRET, OTHER_SECRET],
      now: () => NOW,
    }).catch((thrown: unknown) => String(thrown));
    expect(error).toContain(MISSING);
    expect(error).not.toContain(NOTHING_YET);
  });
});

it('of 101 secrets, the one is forgotten that verified a delivery the longest ago', () => {
  const verified = new LastVerified();
  const ids = Array.from({ length: 101 }, (_, at) => `s${String(at)}`);
  for (const id of ids.slice(0, 100)) verified.note(id, 0);
  verified.note('s0', 0);
  expect(verified.told(['s0', 's1'], 0)).toBe('s0 0 s ago, s1 0 s ago');
  verified.note('s100', 0);
  expect(verified.told(['s0', 's1', 's2'], 0)).toBe(
    's0 0 s ago, s1 none since the start, s2 0 s ago',
  );
});
