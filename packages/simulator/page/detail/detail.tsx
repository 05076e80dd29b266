import {
  ActionButton,
  ApiError,
  attempt,
  Badge,
  Button,
  Countdown,
  Facts,
  fieldValue,
  openForm,
  OutcomeBadge,
  TextArea,
  Time,
} from '@call-webhooks/ui';
import type { AttemptSummary, WebhookEventView } from '@call-webhooks/simulator/control-api';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { callApi } from '../state/api.ts';
import { lastAttempt, nextAttempt, stateReason, STATES } from '../state/labels.ts';
import { callName, choose, closeGone, filterBy, now, resend, store } from '../state/store.ts';
import { AttemptCard } from './attempt-card.tsx';

let wanted = false;
const title = () => document.getElementById('detail-title');

/** Moves the focus to the details of an event, as soon as they are there. */
export function focusDetail(id: string): void {
  wanted = true;
  if (title()?.dataset['id'] === id) takeFocus();
}

function takeFocus(): void {
  if (wanted) title()?.focus();
  wanted = false;
}

/** The event with its bodies. The last one stays until the next has arrived. */
function useWebhookEvent(id: string): WebhookEventView | undefined {
  const [event, setEvent] = useState<WebhookEventView>();
  const latest = useRef(0);
  const asked = useRef(0);
  // Of an event that is not in the list, only the number of reads says that it may have changed.
  const changed = store.events.find(({ _id }) => _id === id) ?? store.reads;
  useEffect(() => {
    const turn = ++asked.current;
    void attempt(async () => {
      const found = await callApi<WebhookEventView>('GET', `/events/${id}`).catch(
        (error: unknown) => {
          // After a restart or a reset, the event may be gone, and its details go with it.
          if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
          if (store.selected === id) closeGone();
          return undefined;
        },
      );
      if (!found) return;
      if (store.selected !== id || turn < latest.current) return;
      latest.current = turn;
      setEvent(found);
    });
  }, [id, changed]);
  return event;
}

/** The selected event with all its attempts. */
export function Detail({ id }: { readonly id: string }) {
  const pane = useRef<HTMLElement>(null);
  const event = useWebhookEvent(id);
  const before = useRef<WebhookEventView | undefined>(undefined);
  // The newest attempt is unfolded when the event is shown, or has its first attempt.
  const opens = before.current?._id !== event?._id || before.current?.attempts.length === 0;
  useLayoutEffect(() => {
    if (!event) return;
    if (before.current?._id !== event._id && pane.current) pane.current.scrollTop = 0;
    before.current = event;
    if (event._id === id) takeFocus();
  }, [event, id]);
  const attempts = [...(event?.attempts ?? [])].reverse();
  return (
    <section class="detail" id="detail" aria-labelledby="detail-title" hidden={!event} ref={pane}>
      {event && (
        <>
          <div class="detail-head">
            <Head event={event} />
            <Story event={event} />
            <OutcomeNote last={lastAttempt(event.attempts)} />
            <Properties event={event} />
          </div>
          <ol class="attempts" aria-label="Attempts, newest first" reversed key={event._id}>
            {attempts.map((one, at) => (
              <AttemptCard
                key={`${one.kind} ${String(one.number)}`}
                attempt={one}
                opens={opens && at === 0}
              />
            ))}
          </ol>
          {attempts.length === 0 && <p class="none">Nothing has been sent yet.</p>}
        </>
      )}
    </section>
  );
}

/** Asks for another body and sends the event again with it. */
const edit = ({ _id, body }: WebhookEventView): void =>
  openForm({
    title: 'Edit and resend',
    go: 'Resend',
    wide: true,
    content: (
      <TextArea
        label="Body"
        name="body"
        rows={12}
        required
        defaultValue={JSON.stringify(JSON.parse(body), null, 2)}
        hint="The body must be valid JSON. It is sent exactly as you write it."
      />
    ),
    run: (form) => resend(_id, fieldValue(form, 'body')),
  });

interface PartProps {
  readonly event: WebhookEventView;
}

/** The event and what can be done with it. */
const Head = ({ event }: PartProps) => (
  <div class="detail-title">
    <h2 tabIndex={-1} id="detail-title" data-id={event._id}>
      <span class="event">{event.eventName}</span>{' '}
      <span class="number">{`#${String(event.number)}`}</span>
    </h2>
    <div class="buttons">
      <ActionButton
        label="Resend"
        icon="again"
        small
        title="Send this event again (r)"
        run={() => resend(event._id)}
      />
      <Button
        label="Edit"
        small
        title="Edit the body and send it again"
        onClick={() => edit(event)}
      />
      <Button
        label="Close"
        title="Close (Esc)"
        icon="cross"
        iconOnly
        kind="ghost"
        small
        onClick={() => choose(undefined)}
      />
    </div>
  </div>
);

/** The state and its reason, and the next attempt. */
function Story({ event }: PartProps) {
  const { policy } = store.state;
  const { label, icon, tone } = STATES[event.state];
  return (
    <p class="story">
      <Badge tone={tone} icon={icon}>
        {label}
      </Badge>
      <span>{stateReason(event, policy)}</span>
      {event.nextAttemptAt !== undefined && (
        <span class="next">
          {`Attempt ${nextAttempt(event, policy)} is due `}
          <Countdown at={event.nextAttemptAt} now={now} />, at <Time at={event.nextAttemptAt} />.
        </span>
      )}
    </p>
  );
}

/** What the event belongs to. */
function Properties({ event }: PartProps) {
  const { callId, ruleId, ruleName, url, createdAt, _id, copyOf, copiedBy } = event;
  const rule = store.rule(ruleId);
  return (
    <Facts
      class="properties"
      facts={[
        ['Receiver', url ?? 'the action was removed'],
        [
          'Call',
          <Button
            kind="link"
            label={callName(callId, event.callName)}
            title="Show all events of this call"
            onClick={() => filterBy({ callId })}
          />,
        ],
        [
          'Rule',
          `${rule?.name ?? ruleName ?? ruleId}${rule?.state === 'paused' ? ' (paused)' : ''}`,
        ],
        ['Created', <Time at={createdAt} />],
        ['ID', <code>{_id}</code>],
        [
          'Copy of',
          copyOf !== undefined && (
            <>
              <code>{copyOf}</code>
              {copiedBy === 'resend' ? ', resent' : ', made by chaos'}
            </>
          ),
        ],
      ]}
    />
  );
}

type Last = Pick<AttemptSummary, 'outcome' | 'response' | 'result'>;

/** What the receiver made of the last attempt: the outcome, its meaning, and what to do about it. */
function OutcomeNote({ last }: { readonly last: Last | undefined }) {
  const told = last?.response && explained(last);
  if (!told) return null;
  return (
    <div class="outcome-note" data-tone={last.result?.next === 'acknowledged' ? 'good' : 'bad'}>
      <p>
        <OutcomeBadge name={told.name} /> {told.when}
      </p>
      <p>
        <strong>Fix: </strong>
        {told.fix}
      </p>
    </div>
  );
}

function explained({ outcome, response, result }: Last) {
  const row = outcome === undefined ? undefined : store.outcomes[outcome];
  if (outcome !== undefined) return row && { name: outcome, when: row.when, fix: row.fix };
  if (response?.kind === 'timeout')
    return {
      name: 'timed out',
      when: 'The receiver did not respond in time.',
      fix: 'Respond within the time limit, and move work that takes longer to a queue.',
    };
  if (response?.kind === 'connection-error') {
    const refused = response.code === 'ECONNREFUSED';
    return {
      name: response.code,
      when: refused
        ? 'Nothing is listening at the URL of the receiver.'
        : 'The connection to the receiver failed.',
      fix: refused
        ? 'Start the receiver, or change the URL of the action.'
        : 'Read the log of the receiver, and check the network.',
    };
  }
  if (response?.kind !== 'status' || result?.next === 'acknowledged') return undefined;
  return response.status === 404
    ? {
        name: '404',
        when: 'A call-webhooks receiver never returns 404, so something else answered the request.',
        fix: 'Compare the URL of the action with the path of the receiver.',
      }
    : {
        name: String(response.status),
        when: 'The response names no outcome, so it comes from your own code, the framework or a proxy.',
        fix: 'Read the response below, and the log of the receiver.',
      };
}
