import { Countdown, Icon, OutcomeBadge, Tag, Time, duration } from '@call-webhooks/ui';
import type {
  AttemptSummary,
  WebhookEventSummary,
  OutcomesView,
  PolicyView,
} from '@call-webhooks/simulator/control-api';
import { Component } from 'preact';
import {
  attemptTone,
  lastAttempt,
  nextAttempt,
  responseText,
  shortUrl,
  stateReason,
  STATES,
} from '../state/labels.ts';
import { now } from '../state/store.ts';

const MOST_PIPS = 12;

const COPIED: Readonly<Record<NonNullable<WebhookEventSummary['copiedBy']>, string>> = {
  duplicate: 'duplicate',
  concurrentDuplicates: 'duplicate',
  resend: 'resent',
};

interface RowProps {
  readonly event: WebhookEventSummary;
  readonly selected: boolean;
  /** Who was called. */
  readonly callName: string;
  readonly policy: PolicyView;
  readonly outcomes: OutcomesView;
  readonly onChoose: (id: string, byKeyboard: boolean) => void;
}

/** One event: its name, attempts, response, outcome, receiver, call, and the reason for its state. */
export class EventRow extends Component<RowProps> {
  /** Most rows stay the same while others change. */
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some(
      (name) => next[name] !== this.props[name],
    );
  }

  override render({ event, selected, onChoose, ...about }: RowProps) {
    const { _id, state, eventName, number, copiedBy, byHand, attempts, createdAt } = event;
    const { label, icon } = STATES[state];
    const last = lastAttempt(attempts);
    return (
      <li>
        <button
          type="button"
          class="row event-row"
          data-id={_id}
          data-state={state}
          aria-current={selected ? 'true' : undefined}
          onClick={({ detail }) => onChoose(_id, detail === 0)}
        >
          <span class="mark" title={label}>
            <Icon name={icon} />
            <span class="visually-hidden">{label}</span>
          </span>
          <span class="what">
            <span class="event">{eventName}</span>
            <span class="number">{`#${String(number)}`}</span>
            {copiedBy && <Tag>{COPIED[copiedBy]}</Tag>}
            {byHand && <Tag>edited</Tag>}
          </span>
          <Pips attempts={attempts} />
          <span class="result">
            {last && (
              <>
                <span class="answer" data-tone={attemptTone(last)} title={responseText(last)}>
                  {responseText(last)}
                </span>
                <span class="took">{last.tookMs === undefined ? '' : duration(last.tookMs)}</span>
              </>
            )}
          </span>
          <Time at={createdAt} class="when" />
          <Note event={event} {...about} />
        </button>
      </li>
    );
  }
}

function Pips({ attempts }: { readonly attempts: readonly AttemptSummary[] }) {
  const count = `${String(attempts.length)} attempt${attempts.length === 1 ? '' : 's'}`;
  return (
    <span class="pips" title={count}>
      <span class="visually-hidden">{count}</span>
      {attempts.slice(-MOST_PIPS).map((attempt) => (
        <i key={`${attempt.kind} ${String(attempt.number)}`} data-tone={attemptTone(attempt)} />
      ))}
    </span>
  );
}

type NoteProps = Pick<RowProps, 'event' | 'callName' | 'policy' | 'outcomes'>;

function Note({ event, callName, policy, outcomes }: NoteProps) {
  const { url, ruleName, nextAttemptAt, attempts } = event;
  const why = stateReason(event, policy);
  const outcome = lastAttempt(attempts)?.outcome;
  return (
    <span class="note">
      {outcome && <OutcomeBadge name={outcome} meaning={outcomes[outcome]?.when} />}
      {url !== undefined && (
        <span class="receiver" title={ruleName}>
          {shortUrl(url)}
        </span>
      )}
      <span>{callName}</span>
      {why && <span class="because">{why}</span>}
      {nextAttemptAt !== undefined && (
        <span class="next">
          {`attempt ${nextAttempt(event, policy)} `}
          <Countdown at={nextAttemptAt} now={now} />
        </span>
      )}
    </span>
  );
}
