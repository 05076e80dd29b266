import type { MissReason } from './miss-reasons.ts';
import { code } from './status/words.ts';

/** So many missed events in a row are hardly single losses. */
const MANY = 3;

/**
 * A reason in words.
 * @param at shows a time, in milliseconds since the epoch
 * @returns sentences in Markdown, without the number of events
 */
export function missReasonText(
  reason: MissReason,
  { tenant, at }: { tenant?: string | undefined; at: (time: number) => string },
): string {
  const { kind, eventName = '', outcomes, from, until, isAbout = false } = reason;
  const about = (time: number) => `${isAbout ? 'about ' : ''}${at(time)}`;
  const name = code(eventName) + (tenant === undefined ? '' : ` of ${tenant}`);
  const codes = outcomes.length > 0 ? ` (${outcomes.map(code).join(', ')})` : '';
  switch (kind) {
    case 'unknown':
      if (outcomes.length > 0)
        return `Deliveries of these events arrived and were verified${codes}, so nothing was lost on the way. The store no longer knows the events: it forgets them after its \`rememberFor\`, and when they are erased.`;
      return 'The reason is unknown. The outcome log does not go back that far, or it does not count this tenant or event separately.';
    case 'rejected':
      return `Deliveries arrived at that time, but none of the configured secrets could verify them${codes}. The secret of an action may be missing.`;
    case 'failed':
      return `Deliveries failed at that time before their events could be stored${codes}.`;
    case 'single':
      return `Other ${name} events arrived around the same time, so their rule was not paused. Individual deliveries were lost in transit. Check the proxy and the conditions of the rule.`;
    case 'silence':
      return `No delivery reached any process${periodText(from, until, at)}. ${silenceText(reason)}`;
    case 'event-silence':
      return `Other events arrived, but no ${name} from ${from === null ? 'the beginning of the log' : about(from)} to ${until === null ? 'now' : about(until)}. ${pausedText(reason)}`;
  }
}

function periodText(
  from: number | null,
  until: number | null,
  at: (time: number) => string,
): string {
  if (from === null) return until === null ? '' : ` before ${at(until)}`;
  return until === null ? ` since ${at(from)}` : ` from ${at(from)} to ${at(until)}`;
}

/** @returns nothing, or how many deliveries had failed */
const failedText = (failed: number, when: string): string =>
  failed === 0
    ? ''
    : ` ${when}, ${failed === 1 ? '1 delivery failed and was' : `${String(failed)} deliveries failed and were`} not acknowledged later. The service pauses a rule when the last retry of an event fails.`;

function pausedText({ missed, failedBefore }: MissReason): string {
  const failed = failedText(failedBefore, 'Before that');
  return missed >= MANY
    ? `Its rule was probably paused, changed or removed.${failed} Check it in the service, under Rules.`
    : `Its rule may have been paused, changed or removed, or these deliveries were lost in transit.${failed} Check the rule in the service, under Rules.`;
}

function silenceText({ wasRunning, failedBefore }: MissReason): string {
  const failed = failedText(failedBefore, 'In the half hour before');
  if (wasRunning === false)
    return `No process was running during the whole time, so the receivers were down or were restarted.${failed}`;
  return wasRunning === true
    ? `A process was running the whole time, so either the rule was paused, or requests did not reach the receiver.${failed} Check the rule in the service, under Rules.`
    : `The rule may be paused. Check it in the service, under Rules.${failed}`;
}
