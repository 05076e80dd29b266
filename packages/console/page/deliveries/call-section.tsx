import { Badge, usePoll } from '@call-webhooks/ui';
import type { CallEvent, CallTimeline, DeliveryRow } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { counted } from '../model/format.ts';
import { AFTER_FAILURE, EVENT_STATES } from '../model/words.ts';
import { Link } from '../parts/link.tsx';
import { ErrorBox, Section } from '../parts/section.tsx';
import { When } from '../parts/when.tsx';

interface CallProps {
  readonly callId: string;
  readonly tenant: string;
}

/** A call over its three events. */
export function CallSection({ callId, tenant }: CallProps) {
  const { value, error } = usePoll(`call ${tenant} ${callId}`, 3_000, (signal) =>
    get<CallTimeline>(`api/calls/${encodeURIComponent(callId)}`, { tenant }, signal),
  );
  return (
    <Section title="Call" beside={<code class="id">{callId}</code>}>
      <ErrorBox error={error} />
      <ol class="call">
        {value?.events.map((event) => (
          <Event key={event.eventName} event={event} />
        ))}
      </ol>
    </Section>
  );
}

function Event({ event }: { readonly event: CallEvent }) {
  const { eventName, state, deliveries, deadLetter } = event;
  const [text, tone, meaning = AFTER_FAILURE[deliveries.at(-1)?.source ?? 'webhook']] =
    EVENT_STATES[state];
  return (
    <li data-tone={tone}>
      <p class="call-event">
        <strong>{eventName}</strong> <Badge tone={tone}>{text}</Badge>
      </p>
      <p class="hint">{meaning}</p>
      {deliveries.length > 0 && (
        <>
          <p class="hint">{counted(deliveries.length, 'delivery', 'deliveries')}:</p>
          <ul class="call-deliveries">
            {deliveries.map((delivery) => (
              <li key={delivery.id}>
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

const Delivery = ({ delivery: { at, outcome, attempt } }: { readonly delivery: DeliveryRow }) => (
  <>
    <When at={at} /> <code class="code-name">{outcome}</code>
    {attempt !== undefined && <span class="hint"> attempt {attempt}</span>}
  </>
);
