import { stat } from 'node:fs/promises';
import type { Simulator } from '@call-webhooks/simulator';
import type { SampleCrm } from './crm.ts';

/** A condition that must hold at the end. */
export interface Check {
  readonly what: string;
  readonly right: boolean;
}

/**
 * The conditions that must hold after the tour.
 * @param lines the output of the receiver
 * @param counted how many calls are counted in the database
 */
export async function checksOf(
  simulator: Simulator,
  crm: SampleCrm,
  lines: readonly string[],
  counted: number,
): Promise<Check[]> {
  const calls = simulator.calls.list();
  const recorded = calls.filter(({ recording }) => recording);
  const downloads = lines.filter((line) => line.startsWith('downloaded'));
  const whole = await Promise.all(
    recorded.map(async ({ _id, recording }) => {
      const file = crm.entries.get(_id)?.recording?.file;
      const bytes = file === undefined ? 0 : (await stat(file)).size;
      return bytes === 44 + (recording?.durationSeconds ?? 0) * 16_000;
    }),
  );
  const repeated = simulator.events.list().filter(({ copyOf }) => copyOf !== undefined);
  return [
    { what: 'events arrived twice', right: repeated.length >= calls.length },
    { what: 'the CRM failed, and was updated later', right: crm.counts.failed > 0 },
    { what: 'every call was counted once', right: counted === calls.length },
    { what: 'every call has an entry', right: calls.every(({ _id }) => crm.entries.has(_id)) },
    { what: 'every call has its complete recording', right: whole.every(Boolean) },
    {
      what: 'every recording was downloaded once',
      right: recorded.every(
        ({ _id }) => downloads.filter((line) => line.includes(_id)).length === 1,
      ),
    },
    {
      what: 'no rule is paused',
      right: simulator.rules.list().every(({ state }) => state === 'active'),
    },
  ];
}
