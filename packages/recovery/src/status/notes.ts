import { counterParts } from '@call-webhooks/core/stores';
import { isCovered } from './covered.ts';
import { PERIOD_MS } from './due-calls.ts';
import { canBeReconciled, type EndedSilence } from './ended-silence.ts';
import { groupedBy, OTHERS, type Evidence } from './evidence.ts';
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

function ignoredEvents({ minutes }: Evidence): readonly StatusNote[] {
  const counts = [...minutes.values()].flatMap((counters) =>
    Object.entries(counters).flatMap(([name, count]) => {
      const [kind, , outcome, eventName = ''] = counterParts(name);
      return kind === 'outcome' && outcome === 'ignored' ? [{ eventName, count }] : [];
    }),
  );
  return [...groupedBy(counts, ({ eventName }) => eventName)].map(([eventName, all]) => {
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const text = `${count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`} of ${named(eventName)} ${count === 1 ? 'was' : 'were'} acknowledged in the last 26 hours without a handler.`;
    return { text };
  });
}
