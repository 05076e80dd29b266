import { counterParts } from '@call-webhooks/core/stores';
import { isCovered } from './covered.ts';
import { PERIOD_MS } from './due-calls.ts';
import { canBeReconciled, type EndedSilence } from './ended-silence.ts';
import { groupedBy, OTHERS, sumOf, type Evidence } from './evidence.ts';
import type { Finding } from './findings.ts';
import { reconcilableSince } from './reconcile-advice.ts';
import { usualCalls, type Histories } from './silent.ts';
import type { StatusNote } from './types.ts';
import type { ShowTime } from './times.ts';
import { endedSilenceText, inWords, named, reconcileFix, usualText } from './words.ts';

/** What notes tell of. */
interface Told {
  /** What has ended, and needs no action. */
  readonly findings: readonly Finding[];
  readonly silences: readonly EndedSilence[];
  readonly past: Histories;
  readonly at: ShowTime;
}

/** What is worth knowing, and no problem as far as is known. */
export function notesOf(
  evidence: Evidence,
  { findings, silences, past, at }: Told,
): readonly StatusNote[] {
  return [
    ...findings.map(({ tenant, ...finding }) => ({
      ...ofTenant(tenant),
      text: inWords({ tenant, ...finding }, at, evidence).text,
    })),
    ...silences
      .filter((one) => !canBeReconciled(one, evidence))
      .map((one) => ({
        ...ofTenant(one.tenant),
        text: `${endedSilenceText(one, at)} ${reconcileFix(one, at, evidence)}`,
      })),
    ...endedQuiet(evidence, past, at),
    ...ignoredEvents(evidence),
  ];
}

const ofTenant = (tenant: string) => (tenant === '' ? {} : { tenant });

/**
 * All events of a tenant stayed away in hours that usually have many calls, and arrive again. This is told as long as
 * the log has enough of the same hours of the week before, which is for a day after that time ended at most.
 */
function endedQuiet(
  evidence: Evidence,
  { periods }: Histories,
  at: Told['at'],
): readonly StatusNote[] {
  const { now, thresholds, covered } = evidence;
  const { nothingFor, usualCalls: enough } = thresholds;
  return [...periods].flatMap(([tenant, own]) => {
    if (tenant === OTHERS) return [];
    return own.flatMap(({ at: until }, index): readonly StatusNote[] => {
      const since = own[index - 1]?.at ?? until;
      if (until - since - PERIOD_MS < nothingFor) return [];
      const { count, isWhole } = usualCalls(own, since, until, now);
      if (count < enough) return [];
      const begun = since + PERIOD_MS;
      const rest = { since: Math.max(begun, reconcilableSince(evidence)), until };
      if (isCovered(covered.get(tenant), 'call:completed', rest)) return [];
      const missing = { tenant, eventName: '', since: begun, until };
      return [
        {
          ...ofTenant(tenant),
          text: `Nothing${tenant === '' ? '' : ` of ${tenant}`} arrived from about ${at(begun)} to ${at(until, begun)}. In the same hours of last week, ${usualText(count, isWhole)} arrived. On a holiday this is normal. ${reconcileFix(missing, at, evidence, 'If calls were made in that time, run')}`,
        },
      ];
    });
  });
}

function ignoredEvents(evidence: Evidence): readonly StatusNote[] {
  const outcomes = [...evidence.minutes.values()].flatMap((counters) =>
    Object.entries(counters).flatMap(([name, count]) => {
      const [kind, source, outcome = '', eventName = ''] = counterParts(name);
      return kind === 'outcome' ? [{ source, outcome, eventName, count }] : [];
    }),
  );
  const ignored = outcomes.filter(({ outcome }) => outcome === 'ignored');
  return [...groupedBy(ignored, ({ eventName }) => eventName)].flatMap(([eventName, all]) => {
    const areAll = !outcomes.some(
      (one) =>
        one.eventName === eventName && one.source === 'webhook' && ARRIVED.includes(one.outcome),
    );
    const counts = tenantCounts(evidence, eventName);
    const total = sumOf(all.map(({ count }) => count));
    const [only] = counts.keys();
    if (counts.size <= 1 && only !== OTHERS) return [ignoredNote(eventName, only ?? '', total)];
    // The counters of outcomes name no tenant. Where all arrivals were ignored, those tell.
    if (!areAll || counts.has(OTHERS)) return [ignoredNote(eventName, '', total)];
    return [...counts].map(([tenant, count]) => ignoredNote(eventName, tenant, count));
  });
}

/** What else an event may become when it arrives first. */
const ARRIVED: readonly string[] = ['handled', 'queued', 'dead-lettered'];

/** How often an event arrived of each tenant in the time that the minutes cover. */
function tenantCounts(
  { now, thresholds, arrivals }: Evidence,
  eventName: string,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [at, counters] of arrivals)
    if (at + PERIOD_MS > now - thresholds.lookBack)
      for (const [name, count] of Object.entries(counters)) {
        const [event, tenant = ''] = counterParts(name);
        if (event === eventName) found.set(tenant, (found.get(tenant) ?? 0) + count);
      }
  return found;
}

function ignoredNote(eventName: string, tenant: string, count: number): StatusNote {
  const of = tenant === '' ? '' : ` of ${tenant}`;
  const text = `${count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`} of ${named(eventName)}${of} ${count === 1 ? 'was' : 'were'} acknowledged in the last 26 hours without a handler.`;
  return { ...ofTenant(tenant), text };
}
