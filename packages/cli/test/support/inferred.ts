import { inferNames } from '../../src/commands/infer-names.ts';

/** The name of each field that was found, and all candidates of what is not sure. */
export function inferred(
  samples: readonly unknown[],
): Record<string, string | string[] | undefined> {
  return Object.fromEntries(
    inferNames(samples).fieldNames.map(({ setting, status, candidates }) => {
      const names = candidates.map(({ name }) => name);
      return [setting, status === 'not-sure' ? names.sort() : names[0]];
    }),
  );
}

/** One body, in which each of the seven fields has a name of one letter. */
export const base = {
  eventName: 'call:completed',
  callId: 'c1',
  fromPhoneNumber: { number: '+1 415 555 0100' },
  a: '507f1f77bcf86cd799439011',
  b: '+4930123456',
  c: 'ann@example.com',
  d: 'Ann Lee',
  e: 1_760_000_000_000,
  f: '2026-01-31T09:30:00.000Z',
  g: '2026-01-31T09:35:00.000Z',
};
