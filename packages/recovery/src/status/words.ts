import { OUTCOMES } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import type { CommonError, SeenEvent } from './evidence.ts';
import type { EndedSilence } from './ended-silence.ts';
import type { Finding } from './findings.ts';
import {
  forgets,
  isRunByReconcile,
  reconcileAdvice,
  type MissedSince,
  type ReconcileLimits,
} from './reconcile-advice.ts';
import type { Undecided } from './rejected.ts';
import { shownDuration, type ShowTime } from './times.ts';
import type { Attention, UndecidedRejections } from './types.ts';

/** What is said about a finding: what happened, and what to do. */
interface Words {
  readonly text: string;
  readonly fix: string;
}

type Of<What> = Extract<Finding, { what: What }>;

const RULES = "the service's web application, under Rules";
/** Until an event arrives, nothing shows that a rule is active again. */
const RESUMED = 'If you have resumed the rule, this disappears with the next event.';

/** What to do about missed events once their rule is active. @param when how the sentence with the command begins */
export function reconcileFix(
  missing: MissedSince,
  at: ShowTime,
  limits: ReconcileLimits,
  when = 'Run',
): string {
  const { eventName } = missing;
  if (eventName !== '' && !isRunByReconcile(eventName))
    return `By default, reconcile does not run ${code(eventName)}: pass it \`toEvents\`.`;
  const advice = reconcileAdvice(missing, limits, at);
  if (!advice) return `Reconcile can't run what was missed: ${forgets(limits.rememberFor)}`;
  return `${when} ${advice.command}.${advice.limits}`;
}

/** The last 10 minutes are left out by reconcile. */
const LATER = '10 minutes later, run';

/** All that `status` says about findings, in every place where it is shown. */
const WORDS: {
  [What in Finding['what']]: (finding: Of<What>, at: ShowTime, limits: ReconcileLimits) => Words;
} = {
  'store-down': ({ error }) => ({
    text: `The store does not answer, so every delivery is rejected with 503: ${error}`,
    fix: OUTCOMES['store-unavailable'].fix,
  }),
  'log-unreadable': ({ error }) => ({
    text: `The outcome log of the store cannot be read, so it is unknown which events arrive: ${error}`,
    fix: "Check the store's server. Deliveries don't depend on the log, so they may continue.",
  }),
  'failing-events': (
    { eventName, failures, count, since, lastAt, outcome, most, urgent, isKnown },
    at,
  ) => {
    const what = eventName === '' ? 'Deliveries are failing' : `${code(eventName)} is failing`;
    const evidence = isKnown
      ? `${count === 1 ? 'One event' : `${events(count)} are failing. The oldest one`} has failed ${times(failures)}, first at ${at(since)} and last at ${at(lastAt, since)}.`
      : `${deliveries(failures)} failed between ${at(since)} and ${at(lastAt, since)}.`;
    const meaning = urgent
      ? 'The service sends an event again about every 5 minutes, a limited number of times, and then pauses the rule.'
      : 'After its last attempt, an event becomes a dead letter. Dead letters cannot pause the rule.';
    return {
      text: `${what} (${code(outcome)}). ${evidence}${mostly(most)} ${meaning}`,
      fix: urgent
        ? fixOfFailing(outcome, most)
        : `${most ? 'Fix the cause of the error' : 'Read the error in the log line, fix the cause'}, and redrive the dead letters.`,
    };
  },
  'dead-letters': ({ eventName, count, since, most, place }, at) => {
    const what = eventName === '' ? events(count) : events(count, eventName);
    const [has, it] = count === 1 ? ['has', 'it'] : ['have', 'them'];
    if (place === 'gone')
      return {
        text: `${what} ${has} become ${count === 1 ? 'a dead letter' : 'dead letters'} since ${at(since)}. Nothing has handled ${it} since, and ${count === 1 ? 'it does' : 'they do'} not wait in the dead-letter store: ${count === 1 ? 'it was' : 'they were'} removed or erased, or the receiver keeps its dead letters in another store. Dead letters cannot pause the rule.`,
        fix: '',
      };
    const state =
      place === 'waiting'
        ? count === 1
          ? `${what} has been a dead letter since ${at(since)}.`
          : `${what} are dead letters, the oldest one since ${at(since)}.`
        : `${what} ${has} become ${count === 1 ? 'a dead letter' : 'dead letters'} since ${at(since)}, and no redrive has handled ${it} so far.`;
    return {
      text: `${state}${mostly(most)} Dead letters cannot pause the rule.`,
      fix: 'Look at the dead letters, fix the cause, and redrive them.',
    };
  },
  'retry-overdue': ({ tenant, eventName, count, since, lastAt, most, reconciled }, at, limits) => ({
    text: `${startOf(named(eventName))} has stopped arriving: its last delivery failed at ${at(lastAt)}, and the retry has not arrived.${count > 1 ? ` ${events(count)} have failed since ${at(since)} and have not been acknowledged.` : ''}${mostly(most)}${reconciledSince(reconciled, count)} The rule is probably paused, or requests no longer reach the receiver.`,
    fix: `${most ? 'Fix the cause of the error. Then resume the rule in' : 'Look at the rule in'} ${RULES}${most ? '' : ', and resume it'}. ${reconcileFix({ tenant, eventName, since }, at, limits, LATER)} ${RESUMED}`,
  }),
  'calls-due': ({ tenant, eventName, since, count, other, percent, urgent }, at, limits) => ({
    text: `${code(eventName)} has not arrived since ${at(since)}, although ${code(other)} has arrived for ${calls(count)} for which it should have arrived by now. Usually, it arrives for ${String(percent)}% of the calls. The rule ${urgent ? 'is probably' : 'may be'} paused, changed or removed, or requests no longer reach the receiver.`,
    fix: `Look at the rule in ${RULES}. If it is paused and no delivery had failed, a 404 is the most likely cause, and would pause it again: before you resume it, run ${code('call-webhooks doctor --to URL')} against each process and proxy. ${reconcileFix({ tenant, eventName, since }, at, limits, LATER)} ${RESUMED}`,
  }),
  'usual-hours': ({ tenant, eventName, since, count, isWhole }, at, limits) => ({
    text: `Nothing has arrived since ${at(since)}. In the same hours of last week, ${usualText(count, isWhole)} arrived. On a holiday this is normal.`,
    fix: `If calls are being made now, run ${code('call-webhooks doctor --to URL')} against each process and proxy, and look at the rules in ${RULES}. Resume those that are paused. ${reconcileFix({ tenant, eventName, since }, at, limits, LATER)}`,
  }),
  'rejected-events': ({ count, since, lastAt, outcome, events: missing }, at) => ({
    text: `${deliveries(count)} ${count === 1 ? 'has' : 'have'} failed verification since ${at(since)} (${code(outcome)}), the last one at ${at(lastAt, since)}. ${missing.length === 1 ? 'One event has' : 'These events have'} not arrived since: ${missing.map((event) => lastVerified(event, at)).join('; ')}. After the last retry, the service pauses the rule.`,
    fix: fixOfRejected(outcome),
  }),
  'rejected-ended': ({ count, since, lastAt, outcome, ended, missing, again }, at) => {
    const by = ended.secretId === '' ? '' : ` with the secret ${code(ended.secretId)}`;
    const end = `${code(ended.eventName)}, which had not arrived while deliveries were rejected, was verified${by} at ${at(ended.at)}`;
    const others =
      missing.length === 0
        ? ''
        : ` ${missing.length === 1 ? 'One event has' : 'These events have'} not arrived since, which may be normal: ${missing.map((event) => lastVerified(event, at)).join('; ')}.`;
    const many = deliveries(count);
    return {
      text:
        again > 0
          ? `${many} ${count === 1 ? 'has' : 'have'} failed verification since ${at(since)} (${code(outcome)}), after earlier rejections had ended: ${end}.${others}`
          : `${many} could not be verified from ${at(since)} to ${at(lastAt, since)} (${code(outcome)}). The rejections have ended: ${end}.${others}`,
      fix:
        again > 0
          ? fixOfRejected(outcome)
          : 'If the secret of such an event was rotated as well, configure the new one.',
    };
  },
  'rejected-only': ({ count, since, lastAt, outcome, isKnown, unknownTenants }, at) => ({
    text: `${deliveries(count)} ${count === 1 ? 'has' : 'have'} failed verification since ${at(since)} (${code(outcome)}), the last one at ${at(lastAt, since)}. ${
      isKnown
        ? 'All known events have arrived since. These deliveries are from an action whose secret is not configured or from another environment, or they are forged.'
        : unknownTenants > 0
          ? `They name ${unknownTenants === 1 ? 'a tenant' : `${String(unknownTenants)} tenants`} that ${unknownTenants === 1 ? 'has' : 'have'} never had a verified delivery.`
          : 'No delivery has ever been verified.'
    }`,
    fix: fixOfRejected(outcome),
  }),
  'given-up': ({ tenant, eventName, count, since, othersAt }, at, limits) => ({
    text: `${events(count, eventName)} ${count === 1 ? 'has' : 'have'} failed since ${at(since)} and ${count === 1 ? 'has' : 'have'} not been sent again, although others have arrived since, the last one at ${at(othersAt)}.`,
    fix: reconcileFix({ tenant, eventName, since }, at, limits),
  }),
  'silence-ended': (silence, at, limits) => ({
    text: endedSilenceText(silence, at),
    fix: `${reconcileFix(silence, at, limits)}${silence.isSettled ? '' : ` Run it after ${at(silence.settlesAt)}, because reconcile leaves out the last 10 minutes.`}`,
  }),
  reconciled: ({ tenant, eventName, count, at: ranAt, since, until, isDryRun }, at, limits) => ({
    text: `The reconcile run at ${at(ranAt)} found ${events(count, eventName)} that never arrived, for calls between ${at(since)} and ${at(until, since)}. The rule may be paused.`,
    fix: `${isDryRun ? `It was a dry run, so nothing was run. ${reconcileFix({ tenant, eventName, since }, at, limits, 'Run reconcile without dryRun, or run')} ` : ''}Look at the rule in the service's web application, under Rules.`,
  }),
  stuck: ({ count, since }, at) => ({
    text: `${deliveries(count)} ${count === 1 ? 'has' : 'have'} been queued since ${at(since)}, and no job has finished since then. These deliveries were acknowledged, so the service will not send them again.`,
    fix: 'Check that a worker is running, and restart one that hangs. If your workers have the probe of the docs, `curl -i http://WORKER:3001/ready` returns 503 while a worker cannot run jobs.',
  }),
  slow: ({ eventName, count, of, since, ackWithin, version, p95 }, at) => ({
    text: `${String(count)} of ${deliveries(of)} of ${named(eventName)} since ${at(since)} took longer than ${shownDuration(ackWithin / 2)}, which is half of \`ackWithin\`.${
      version
        ? ` Version ${code(version.name)} of your app, whose process started at ${at(version.startedAt)}, handled the first of them.`
        : ''
    } 95% of them took at most: ${[
      ['whole delivery', p95.delivery],
      ['handler', p95.handler],
      ['store', p95.store],
    ]
      .flatMap(([name, ms]) =>
        typeof ms === 'number' ? `${String(name)} ${shownDuration(ms)}` : [],
      )
      .join(', ')}.`,
    fix: slowerOf(p95),
  }),
};

/** What is known of a silence that has ended. */
export function endedSilenceText(
  { tenant, eventName, since, until, count, most, other }: EndedSilence,
  at: ShowTime,
): string {
  const name = startOf(named(eventName)) + (tenant === '' ? '' : ` of ${tenant}`);
  const evidence =
    other === undefined
      ? `after ${events(count)} had failed and ${count === 1 ? 'was' : 'were'} not sent again.${mostly(most)}`
      : `although ${code(other)} had arrived for ${calls(count)} for which it should have arrived.`;
  return `${name} did not arrive from ${at(since)} to ${at(until, since)}, ${evidence} The rule was probably paused, and the service probably sent no events of that time.`;
}

/** What a reconcile has done about events that the service has given up. */
function reconciledSince(reconciled: number, count: number): string {
  if (reconciled === 0) return '';
  const which = reconciled < count ? `${String(reconciled)} of them` : count === 1 ? 'it' : 'them';
  return ` Since then, reconcile has handled ${which}, which does not resume the rule.`;
}

/** @param isWhole whether the log still has all of that time */
export const usualText = (count: number, isWhole: boolean) =>
  isWhole ? calls(count) : `at least ${calls(count)}`;

/** The text has quoted the error. */
const fixOfFailing = (outcome: Of<'failing-events'>['outcome'], most: CommonError | undefined) =>
  most
    ? OUTCOMES[outcome].fix.replace(
        'Read the error in the log line.',
        'Fix the cause of the error.',
      )
    : OUTCOMES[outcome].fix;

/** What most failures have in common. */
function mostly(most: CommonError | undefined): string {
  if (!most) return '';
  const { count, of } = most;
  const text = most.text.replace(/\.$/, ''); // the sentence has its own
  if (of === 1) return ` The error was ${code(text)}.`;
  return count === of
    ? ` Each time, the error was ${code(text)}.`
    : ` The most frequent error is ${code(text)} (${String(count)} of ${String(of)} failures).`;
}

/** Both are rounded to buckets that are a fifth wide. */
function slowerOf({ handler = 0, store = 0 }: Of<'slow'>['p95']): string {
  const queue = 'A handler that takes this long belongs in a queue.';
  if (handler >= 2 * store) return `Find out what the handler is waiting for. ${queue}`;
  if (store >= 2 * handler)
    return "The store is slower than the handler. Check the store's server and the network.";
  return `Find out what the handler and the store are waiting for. ${queue}`;
}

const lastVerified = ({ eventName, arrivedAt, secretId }: SeenEvent, at: ShowTime): string =>
  `${named(eventName)}, last verified ${secretId === '' ? '' : `with the secret ${code(secretId)} `}at ${at(arrivedAt)}`;

function fixOfRejected(outcome: Of<'rejected-events'>['outcome']): string {
  if (outcome !== 'signature-mismatch') return OUTCOMES[outcome].fix;
  return 'If a secret was rotated, or an action created, configure its secret. Forged requests cause this message, too.';
}

/** Where the docs explain a kind. */
const DOCS: Record<Attention['kind'], string> = {
  store: docsUrl('status.md#store'),
  failing: docsUrl('status.md#failing'),
  silent: docsUrl('status.md#silent'),
  rejected: docsUrl('status.md#rejected'),
  missed: docsUrl('status.md#missed'),
  stuck: docsUrl('status.md#stuck'),
  slow: docsUrl('status.md#slow'),
};

/**
 * @param at shows a time, in milliseconds since the epoch
 * @param limits what a reconcile can look at
 */
export function inWords(finding: Finding, at: ShowTime, limits: ReconcileLimits): Attention {
  const { kind, urgent, by, tenant, eventName, since, count } = finding;
  const say = WORDS[finding.what] as (
    finding: Finding,
    at: ShowTime,
    limits: ReconcileLimits,
  ) => Words;
  const { text, fix } = say(finding, at, limits);
  const hasEnded = finding.what === 'rejected-ended' && finding.again === 0;
  return {
    kind,
    urgent,
    ...(by && { by }),
    ...(tenant !== '' && { tenant }),
    ...(eventName !== '' && { eventName }),
    since,
    ...(hasEnded && { until: finding.lastAt }),
    ...{ count, text, fix, docs: DOCS[kind] },
  };
}

/** @param at shows a time, in milliseconds since the epoch */
export function undecidedInWords(
  { tenant, since, count, outcome }: Undecided,
  at: ShowTime,
): UndecidedRejections {
  const of = tenant === '' ? '' : ` of ${tenant}`;
  const has = count === 1 ? 'has' : 'have';
  const text = `${deliveries(count)}${of} ${has} failed verification since ${at(since)} (${code(outcome)}). It is too early to tell why: the service sends a genuine delivery again after about 5 minutes.`;
  return { ...(tenant !== '' && { tenant }), since, count, text };
}

/** A name in Markdown. */
export const code = (name: string): string => `\`${name.replaceAll('`', "'")}\``;

/** An event. The outcome log has an empty name for payloads of the user's own that name no event. */
export const named = (eventName: string): string =>
  eventName === '' ? 'a custom payload' : code(eventName);

/** The same at the start of a sentence. */
const startOf = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const numbered = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
export const calls = (count: number) => numbered(count, 'call');
const deliveries = (count: number) => numbered(count, 'delivery', 'deliveries');
const times = (count: number) => numbered(count, 'time');
const events = (count: number, eventName?: string) =>
  numbered(
    count,
    eventName === undefined || eventName === '' ? 'event' : `${code(eventName)} event`,
  );
