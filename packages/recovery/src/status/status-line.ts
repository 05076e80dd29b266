import { type AttentionGroup, groupedAttention } from './attention-groups.ts';
import { THRESHOLDS } from './thresholds.ts';
import { shownTime } from './times.ts';
import type { Attention, EventStatus, Status } from './types.ts';
import { named } from './words.ts';

/**
 * A status in one line, as the console and the command line show it: "All 3 events are arriving.", "Quiet
 * since Friday 18:03 UTC." or "2 things need attention: …". Rejections that are too new to be judged come first.
 * @returns one sentence or more in Markdown
 * @example
 * console.log(statusLine(await status({ store })));
 */
export function statusLine(status: Status): string {
  const { attention, undecided, unknown } = status;
  const doubts = undecided.map(({ text }) => text);
  if (attention.length === 0)
    return [...doubts, unknown === undefined ? arrivals(status) : `Unknown: ${unknown}`].join(' ');
  const things =
    attention.length === 1 ? '1 thing needs' : `${String(attention.length)} things need`;
  const named = groupedAttention(attention).flatMap(shortly).join('; ');
  return [`${things} attention: ${named}.`, ...quietness(status), ...doubts].join(' ');
}

/** Since when nothing has arrived, although something else needs attention. */
function quietness({ at, attention, events, timeZone }: Status): readonly string[] {
  // Deliveries that cannot be verified are arriving.
  if (attention.some(({ kind, until }) => kind === 'rejected' && until === undefined)) return [];
  const last = Math.max(...events.map(({ arrivedAt = 0 }) => arrivedAt));
  const isQuiet = last > 0 && at - last > THRESHOLDS.nothingFor;
  return isQuiet ? [`Quiet since ${shownTime(last, at, timeZone)}.`] : [];
}

/**
 * Which events are arriving, if nothing needs attention. Of one that has not arrived for a while, nobody can say that it
 * is arriving, even if it is not overdue.
 */
function arrivals({ at: now, undecided, events, timeZone }: Status): string {
  const arrived = events.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  if (arrived.length === 0) return 'No verified delivery has arrived in the last 30 days.';
  const arriving = events.filter(({ state }) => state === 'arrives');
  if (arriving.length === 0) {
    const isUnknown = undecided.length === 0 && events.some(({ state }) => state === 'unknown');
    const doubt = isUnknown ? ' It is too early to tell whether that is normal.' : '';
    return `Quiet since ${shownTime(Math.max(...arrived), now, timeZone)}.${doubt}`;
  }
  const at = (time: number) => shownTime(time, now, timeZone);
  const recent = arriving.filter(({ arrivedAt = 0 }) => now - arrivedAt <= THRESHOLDS.arrivingFor);
  const others = events.filter((event) => !recent.includes(event));
  if (others.length === 0)
    return events.length === 1
      ? `${listed(events.map(nameOf))} is arriving.`
      : `All ${String(events.length)} events are arriving.`;
  const last = others.map((event) => `${nameOf(event)} ${lastOf(event, at)}`).join('; ');
  if (recent.length === 0 || arriving.length === events.length)
    return `No event is overdue; ${last}.`;
  const are = recent.length === 1 ? 'is' : 'are';
  return `${String(recent.length)} of ${String(events.length)} events ${are} arriving; ${last}.`;
}

const nameOf = ({ tenant, eventName }: Pick<EventStatus, 'tenant' | 'eventName'>) =>
  named(eventName) + (tenant === undefined ? '' : ` of ${tenant}`);

function lastOf({ arrivedAt, state }: EventStatus, at: (time: number) => string): string {
  if (arrivedAt === undefined) return 'has never arrived';
  const last = `arrived last at ${at(arrivedAt)}`;
  return state === 'unknown' ? `${last} (it is too early to tell whether it has stopped)` : last;
}

const SHORT: Record<Exclude<Attention['kind'], 'store'>, [ofOne: string, ofMany: string]> = {
  failing: ['is failing', 'are failing'],
  silent: ['has stopped arriving', 'have stopped arriving'],
  rejected: ['cannot be verified', 'cannot be verified'],
  missed: ['are missing', 'are missing'],
  stuck: ['is waiting in the queue', 'are waiting in the queue'],
  slow: ['is slow', 'are slow'],
};

/** What concerns events names all of them at once. */
function shortly({ kind, urgent, items }: AttentionGroup): string[] {
  if (kind === 'store')
    return [urgent ? 'the store does not answer' : 'the outcome log cannot be read'];
  const [ofOne, ofMany] = SHORT[kind];
  const names = items.flatMap(({ tenant, eventName }) =>
    eventName === undefined ? [] : nameOf({ tenant, eventName }),
  );
  const others = items.flatMap(({ tenant, eventName, until }) => {
    if (eventName !== undefined) return [];
    const of = tenant === undefined ? '' : ` of ${tenant}`;
    if (until !== undefined) return `deliveries${of} could not be verified for a while`;
    if (kind === 'silent') return `nothing${of} is arriving`;
    return `${kind === 'missed' ? 'events' : 'deliveries'}${of} ${ofMany}`;
  });
  if (names.length === 0) return others;
  // The calls that lack them go on.
  const what = kind === 'missed' ? `events of ${listed(names)}` : listed(names);
  return [`${what} ${names.length === 1 ? ofOne : ofMany}`, ...others];
}

/** `a, b and c` */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
