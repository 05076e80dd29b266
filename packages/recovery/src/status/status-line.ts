import { shownTime } from './times.ts';
import type { Attention, EventStatus, Status } from './types.ts';
import { code } from './words.ts';

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
  return [`${things} attention: ${attention.map(shortly).join('; ')}.`, ...doubts].join(' ');
}

/** Which events are arriving, if nothing needs attention. */
function arrivals({ at, undecided, events, timeZone }: Status): string {
  const arrived = events.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  if (arrived.length === 0) return 'No verified delivery has arrived in the last 30 days.';
  const arriving = events.filter(({ state }) => state === 'arrives');
  if (arriving.length === 0) {
    const isUnknown = undecided.length === 0 && events.some(({ state }) => state === 'unknown');
    const doubt = isUnknown ? ' It is too early to tell whether that is normal.' : '';
    return `Quiet since ${shownTime(Math.max(...arrived), at, timeZone)}.${doubt}`;
  }
  if (arriving.length === events.length)
    return events.length === 1
      ? `${nameOf(events[0] as EventStatus)} is arriving.`
      : `All ${String(events.length)} events are arriving.`;
  const others = events
    .filter(({ state }) => state !== 'arrives')
    .map((event) => `${nameOf(event)} ${lastOf(event, (time) => shownTime(time, at, timeZone))}`);
  const are = arriving.length === 1 ? 'is' : 'are';
  return `${String(arriving.length)} of ${String(events.length)} events ${are} arriving; ${others.join('; ')}.`;
}

const nameOf = ({ tenant, eventName }: Pick<EventStatus, 'tenant' | 'eventName'>) =>
  code(eventName) + (tenant === undefined ? '' : ` of ${tenant}`);

function lastOf({ arrivedAt, state }: EventStatus, at: (time: number) => string): string {
  if (arrivedAt === undefined) return 'has never arrived';
  const last = `arrived last at ${at(arrivedAt)}`;
  return state === 'unknown' ? `${last} (it is too early to tell whether it has stopped)` : last;
}

const SHORT: Record<Exclude<Attention['kind'], 'store'>, [ofEvent: string, ofAll: string]> = {
  failing: ['is failing', 'deliveries are failing'],
  silent: ['has stopped arriving', 'nothing is arriving'],
  rejected: ['cannot be verified', 'deliveries cannot be verified'],
  missed: ['was missed', 'events were missed'],
  stuck: ['is waiting in the queue', 'deliveries are waiting in the queue'],
  slow: ['is slow', 'deliveries are slow'],
};

function shortly({ kind, urgent, tenant, eventName, until }: Attention): string {
  if (kind === 'store')
    return urgent ? 'the store does not answer' : 'the outcome log cannot be read';
  if (until !== undefined) return 'deliveries could not be verified for a while';
  const [ofEvent, ofAll] = SHORT[kind];
  if (eventName !== undefined) return `${nameOf({ tenant, eventName })} ${ofEvent}`;
  return tenant === undefined ? ofAll : `${ofAll} of ${tenant}`;
}
