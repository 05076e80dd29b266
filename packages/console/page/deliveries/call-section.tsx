import { useEffect, useRef } from 'preact/hooks';
import { Badge, Button, counted, usePoll } from '@call-webhooks/ui';
import type { CallEvent, CallTimeline, DeliveryRow } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { filterBy } from '../model/place.ts';
import { AFTER_FAILURE, EVENT_STATES, SOURCES } from '../model/words.ts';
import { Link, When } from '../parts/cells.tsx';
import { reveal } from '../parts/reveal.ts';
import { ErrorBox, Section } from '../parts/section.tsx';

const EVERY_MS = 10_000;

interface CallProps {
  readonly callId: string;
  readonly tenant: string;
}

/** A call over its three events, as the store knows them. */
export function CallSection({ callId, tenant }: CallProps) {
  const { value, error } = usePoll(`call ${tenant} ${callId}`, EVERY_MS, (signal) =>
    get<CallTimeline>(`api/calls/${encodeURIComponent(callId)}`, { tenant }, signal),
  );
  const heading = useRef<HTMLHeadingElement>(null);
  // The link or the field that asks for a call may be far below.
  useEffect(() => reveal(heading.current), [callId, tenant]);
  return (
    <Section
      title="Call"
      heading={heading}
      beside={
        <>
          <code class="id">{callId}</code>
          <Button
            label="Close the call"
            icon="cross"
            iconOnly
            kind="ghost"
            onClick={() => filterBy({ call: undefined })}
          />
        </>
      }
    >
      <ErrorBox error={error} />
      <ol class="call">
        {value?.events.map((event) => (
          <Event key={event.eventName} event={event} />
        ))}
      </ol>
    </Section>
  );
}

/** The state of the store, or what the log adds where the store knows nothing. */
function stateOf({ state, deliveries, deadLetter, isLetterGone }: CallEvent): string {
  if (isLetterGone) return 'letter-gone';
  if (deadLetter && state !== 'handled') return 'dead-lettered';
  if (state !== null && state !== 'unknown') return state;
  const last = deliveries.at(-1)?.outcome;
  if (last === 'queued' || last === 'ignored') return last;
  return state ?? 'none';
}

function Event({ event }: { readonly event: CallEvent }) {
  const { eventName, deliveries, deadLetter } = event;
  const state = stateOf(event);
  const [text, tone, meaning] = EVENT_STATES[state] ?? [state, 'muted', ''];
  const last = deliveries.at(-1);
  return (
    <li data-tone={tone}>
      <p class="call-event">
        <strong>{eventName}</strong> <Badge tone={tone}>{text}</Badge>
      </p>
      <p class="hint">
        {meaning} {state === 'failed' && AFTER_FAILURE[last?.source ?? 'webhook']}
        {state === 'none' && eventName === 'call:completed' && (
          <>
            If the call has ended, this event may have been missed. Check with{' '}
            <Link to="reconcile">a dry run</Link>.
          </>
        )}
      </p>
      {(deadLetter?.error ?? last?.error) !== undefined && (
        <p class="error-text">{deadLetter?.error ?? last?.error}</p>
      )}
      {deliveries.length > 0 && (
        <>
          <p class="hint">{counted(deliveries.length, 'outcome')} in the log:</p>
          <ul class="call-deliveries">
            {deliveries.map((delivery) => (
              <li key={`${String(delivery.at)} ${delivery.id} ${delivery.outcome}`}>
                <Delivery delivery={delivery} />
              </li>
            ))}
          </ul>
        </>
      )}
      {deadLetter && (
        <Link to="dead-letters" query={{ letter: deadLetter.id }}>
          Open the dead letter
        </Link>
      )}
    </li>
  );
}

const Delivery = ({
  delivery: { at, outcome, attempt, source },
}: {
  readonly delivery: DeliveryRow;
}) => (
  <>
    <When at={at} /> <code class="code-name">{outcome}</code>
    <span class="hint">
      {attempt !== undefined && ` attempt ${String(attempt)}`}
      {source !== 'webhook' && `, from ${SOURCES[source][1]}`}
    </span>
  </>
);
