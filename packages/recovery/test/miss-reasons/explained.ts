import {
  counterName,
  type EventState,
  type LogProcess,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { explainMissed, missReasonText, type MissReason } from '../../src/internal.ts';
import { DAY, MINUTE, STARTED } from '../status/service-model.ts';
import { NOW, rowAt, storeWith, type Written } from '../status/written-log.ts';

export const ago = (minutes: number) => NOW - minutes * MINUTE;
const at = (time: number) => new Date(time).toISOString().slice(11, 16);
export const outcome = (code: string, event = STARTED as string, source = 'webhook') =>
  counterName('outcome', source, code, event);
/** Deliveries that were handled, so many minutes ago. */
export const handledAt = (...minutes: number[]) =>
  Object.fromEntries(minutes.map((minute) => [minute, { [outcome('handled')]: 1 }]));
export const handled = (minutes: number, more: Partial<OutcomeRow> = {}) =>
  rowAt(minutes, { outcome: 'handled', ...more });

export interface World extends Written {
  readonly tenant?: string;
  readonly processes?: readonly Partial<LogProcess>[];
  /** What the store knows of events, by their keys. */
  readonly states?: Readonly<Record<string, EventState>>;
}

/** Why events were missed: one line for each stretch, as an object and in words. */
export async function explained(
  { tenant, processes, states, ...batch }: World,
  missed: readonly (readonly [minutes: number, eventName: string, key?: string])[],
) {
  const { log } = await storeWith(batch, NOW);
  const of = { host: 'h', pid: 1, at: NOW, inFlight: 0, startedAt: NOW - DAY };
  const seen = (processes ?? [{}]).map((one, index) => {
    const process = { ...of, id: `p${String(index)}`, ...one };
    return { ...process, seenAt: process.at };
  });
  const own = { ...log!, processes: async () => seen };
  const asked = missed.map(([minutes, eventName, key]) => ({ at: ago(minutes), eventName, key }));
  const reasonOf = await explainMissed(own, asked, {
    ...{ tenant, now: NOW },
    store: states && { peek: async (keys) => keys.map((key) => states[key]) },
  });
  const reasons = [...new Set(asked.map(reasonOf))];
  return reasons.map((reason) => ({ ...reason, text: missReasonText(reason, { tenant, at }) }));
}

export type Told = MissReason & { text: string };
export const reason = (told: Partial<Told> & Pick<Told, 'kind' | 'text'>): Told => ({
  ...{ missed: 1, outcomes: [], from: null, until: null, failedBefore: 0, wasRunning: null },
  ...told,
});

export const RAN =
  'A process was running the whole time, so either the rule was paused, or requests did not reach the receiver. Check the rule in the service, under Rules.';
export const DOWN =
  'No process was running during the whole time, so the receivers were down or were restarted.';
export const MAY = 'The rule may be paused. Check it in the service, under Rules.';
export const PAUSES = 'The service pauses a rule when the last retry of an event fails.';
export const UNKNOWN = reason({
  kind: 'unknown',
  text: 'The reason is unknown. The outcome log does not go back that far, or it does not count this tenant or event separately.',
});
export const SECRETS = (codes: string) =>
  `Deliveries arrived at that time, but none of the configured secrets could verify them (${codes}). The secret of an action may be missing.`;
export const FAILED = (codes: string) =>
  `Deliveries failed at that time before their events could be stored (${codes}).`;
