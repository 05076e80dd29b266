import type { InFlight } from '../api-types.ts';
import { cursorsOf, type StatsStore } from './slot.ts';
import { CountSeries, DAY, HOUR } from './series.ts';

/** A process that writes statistics. */
export interface StatsProcess {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
}

/** The counts of a process, and of those that had its slot before. */
export interface SlotCounts {
  readonly own: CountSeries;
  readonly before: CountSeries;
}

/** What one slot of the shared statistics holds. */
export interface SlotContent {
  readonly process: StatsProcess;
  /** When it was written. */
  readonly seenAt: number;
  readonly inFlight: InFlight;
  readonly hour: SlotCounts;
  readonly day: SlotCounts;
}

/** What has changed since it was written last: the day only changes every ten minutes. */
export async function saveSlot(
  store: StatsStore,
  name: string,
  slot: number,
  { day, ...content }: SlotContent,
  withDay: boolean,
): Promise<void> {
  const cursors = cursorsOf(name, slot);
  // Of one moment: counting goes on meanwhile.
  const [days, rest] = [JSON.stringify(day), JSON.stringify(content)];
  if (withDay) await store.saveCursor?.(cursors.day, days);
  await store.saveCursor?.(cursors.hour, rest);
}

/** @returns `undefined` if nobody has written it, or if it cannot be read */
export async function loadSlot(
  store: StatsStore,
  name: string,
  slot: number,
  now: number,
): Promise<SlotContent | undefined> {
  const cursors = cursorsOf(name, slot);
  const content = parsed(await store.loadCursor?.(cursors.hour));
  if (!content) return undefined;
  const day = parsed(await store.loadCursor?.(cursors.day)) ?? {};
  const { process, seenAt, inFlight, hour } = content as Record<string, unknown>;
  const { id, host, pid, startedAt } = Object(process) as Record<string, unknown>;
  const { deliveries, handlers } = Object(inFlight) as Record<string, unknown>;
  const counts = (division: typeof HOUR, json: unknown): SlotCounts => {
    const { own, before } = Object(json) as Record<string, unknown>;
    return {
      own: CountSeries.from(division, own, now),
      before: CountSeries.from(division, before, now),
    };
  };
  const hours = counts(HOUR, hour);
  const days = counts(DAY, day);
  days.own.refine(hours.own, now);
  days.before.refine(hours.before, now);
  return {
    process: { id: text(id), host: text(host), pid: number(pid), startedAt: number(startedAt) },
    seenAt: number(seenAt),
    inFlight: { deliveries: number(deliveries), handlers: number(handlers) },
    hour: hours,
    day: days,
  };
}

function parsed(cursor: string | undefined): object | undefined {
  try {
    const value: unknown = JSON.parse(cursor ?? 'null');
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : '');
const number = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
