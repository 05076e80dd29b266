import { SETTLE_FOR_MS } from '../cursor.ts';
import { LONGEST_CALL_MS } from '../events.ts';
import type { Evidence } from './evidence.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** So much of the time that stores remember is left for whoever reads the command; milliseconds. */
const SLACK_MS = 30 * MINUTE_MS;
/** The command assumes that stores remember events for so long, unless `--remember-for` says otherwise; milliseconds. */
const ASSUMED_MS = 24 * HOUR_MS;

/** What decides which calls a reconcile can look at. */
export type ReconcileLimits = Pick<Evidence, 'now' | 'rememberFor'>;

/** The time of the oldest calls that a reconcile can look at: events handled before are forgotten, and would run again. */
export const reconcilableSince = ({ now, rememberFor }: ReconcileLimits): number =>
  Math.ceil((now - rememberFor + Math.min(SLACK_MS, rememberFor / 4)) / MINUTE_MS) * MINUTE_MS;

/** Whether a reconcile can look at any calls of a time that ended then. */
export const isReconcilable = (until: number, limits: ReconcileLimits): boolean =>
  reconcilableSince(limits) < Math.min(until, limits.now - SETTLE_FOR_MS);

/** What reconcile builds the events of, unless it is told otherwise. */
export const isRunByReconcile = (eventName: string): boolean =>
  eventName === 'call:completed' || eventName === 'call:recording-available';

/** Events that were missed. */
export interface MissedSince {
  /** Empty without tenants. */
  readonly tenant: string;
  /** Empty if it may be any. */
  readonly eventName: string;
  /** When they began to be missed; milliseconds since the epoch. */
  readonly since: number;
  /** When they arrived again; absent while they are missing. */
  readonly until?: number | undefined;
}

/** What an item has to say about reconcile. */
export interface ReconcileAdvice {
  /** The command in Markdown, as part of a sentence. */
  readonly command: string;
  /** What the command leaves out, as a sentence after a space; or empty. */
  readonly limits: string;
}

/**
 * The command that runs what was missed, for calls that the store remembers.
 * @param at shows a time
 * @returns `undefined` if the store remembers nothing of that time
 */
export function reconcileAdvice(
  { tenant, since, until, eventName }: MissedSince,
  limits: ReconcileLimits,
  at: (time: number) => string,
): ReconcileAdvice | undefined {
  const { now, rememberFor } = limits;
  if (!isReconcilable(until ?? now, limits)) return undefined;
  const oldest = reconcilableSince(limits);
  // A call may have begun long before it ended in that time. Full hours, so that events that stopped together have one command.
  const begun = Math.floor((since - LONGEST_CALL_MS) / HOUR_MS) * HOUR_MS;
  const first = Math.max(begun, oldest);
  const flags = [
    `--since ${new Date(first).toISOString().slice(0, 16)}Z`,
    ...(now - first > ASSUMED_MS - SLACK_MS ? [`--remember-for ${inUnits(rememberFor)}`] : []),
    ...(eventName === 'call:recording-available' ? ['--recordings'] : []),
    ...(tenant === '' ? [] : [`--tenant ${shellWord(tenant)}`]),
    '--to URL',
  ];
  return {
    command: `\`call-webhooks reconcile ${flags.join(' ')}\` with the URL of your receiver`,
    limits:
      oldest > since
        ? ` Calls that began before ${at(first)} can't be reconciled safely: ${forgets(rememberFor)}`
        : '',
  };
}

/**
 * A name as a shell takes it. It stands there unchanged, so that whoever shows the command can mask it;
 * `NAME` stands for a name that no quotes can hold.
 */
function shellWord(name: string): string {
  if (/^[\w./:@%+=,-]+$/.test(name)) return name;
  if (!/['`]/.test(name)) return `'${name}'`;
  return /["$`\\!]/.test(name) ? 'NAME' : `"${name}"`;
}

/** As the command takes it. Full hours would be too few for the window, unless the store remembers full hours. */
const inUnits = (ms: number): string =>
  ms % HOUR_MS === 0 ? `${String(ms / HOUR_MS)}h` : `${String(Math.floor(ms / MINUTE_MS))}m`;

/** Why older events cannot be run, as the end of a sentence. */
export const forgets = (rememberFor: number): string =>
  `the store remembers handled events for ${rememberedFor(rememberFor)} only, so older ones would run again.`;

function rememberedFor(ms: number): string {
  if (ms < 2 * HOUR_MS) return `${String(Math.floor(ms / MINUTE_MS))} minutes`;
  return `${String(Math.floor(ms / HOUR_MS))} hours`;
}
