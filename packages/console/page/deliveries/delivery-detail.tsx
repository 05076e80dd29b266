import { Badge, changeUrl, duration, Facts, moment, usePoll, useUrl } from '@call-webhooks/ui';
import type { DeliveryDetail, DeliveryRow } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { useOutcome } from '../model/session.ts';
import {
  AFTER_FAILURE,
  AFTER_REPLAY,
  AFTER_SUCCESS,
  EVENT_STATES,
  RESULTS,
  SOURCES,
} from '../model/words.ts';
import { CallLink, Link, ResultBadge, When } from '../parts/cells.tsx';
import { DetailHead, ErrorBox, Loading } from '../parts/section.tsx';

const EVERY_MS = 30_000;

const time = (ms: number | undefined) => (ms === undefined ? undefined : duration(ms));

const close = () => {
  changeUrl({ delivery: undefined });
};

/** Everything that is known of a webhook id, in whichever process it was handled. */
export function DeliveryDetailView({ id }: { readonly id: string }) {
  const { value, error } = usePoll(`delivery ${id}`, EVERY_MS, (signal) =>
    get<DeliveryDetail>(`api/deliveries/${encodeURIComponent(id)}`, {}, signal),
  );
  const [latest, ...earlier] = value?.deliveries ?? [];
  const known = value?.isLetterGone ? 'letter-gone' : value?.state;
  const state = known ? EVENT_STATES[known] : undefined;
  return (
    <section class="detail section" aria-label="Delivery">
      <DetailHead title={latest?.outcome ?? 'Delivery'} opener={() => openerOf(id)} onClose={close}>
        {latest && <ResultBadge result={latest.result} />}
      </DetailHead>
      <ErrorBox error={error} />
      {!value && error === undefined && <Loading />}
      {value && !latest && (
        <p class="read-only">This delivery is not in the log. It is too old, or it was not kept.</p>
      )}
      {latest && <Outcome delivery={latest} />}
      {state && (
        <p>
          State of the event in the store: <Badge tone={state[1]}>{state[0]}</Badge> {state[2]}
        </p>
      )}
      {value?.deadLetterId != null && (
        <p>
          <Link to="dead-letters" query={{ letter: value.deadLetterId }}>
            Open the dead letter
          </Link>
        </p>
      )}
      {earlier.length > 0 && <Earlier rows={earlier} />}
    </section>
  );
}

/** The row that was opened has this id in its link, whichever of several rows it is. */
const openerOf = (id: string) =>
  document.querySelector<HTMLElement>(`[id^=${JSON.stringify(`delivery-${id}_`)}]`);

function Outcome({ delivery }: { readonly delivery: DeliveryRow }) {
  const url = useUrl();
  const { callId, tenant, error, attempt, attemptsLeft } = delivery;
  return (
    <>
      <OutcomeNote delivery={delivery} />
      {error !== undefined && <p class="error-text">{error}</p>}
      {callId !== undefined && url.get('call') !== callId && (
        <p>
          <CallLink callId={callId} tenant={tenant}>
            Show all three events of the call
          </CallLink>
        </p>
      )}
      <Facts
        facts={[
          ['Time', moment(delivery.at)],
          ['Event', delivery.eventName],
          ['Call', callId],
          ['Tenant', tenant],
          ['Key', delivery.key],
          ['Webhook id', delivery.webhookId],
          ['Attempt', attempt === undefined ? undefined : attemptText(attempt, attemptsLeft)],
          ['Source', SOURCES[delivery.source][2]],
          ['Took', duration(delivery.durationMs)],
          ['Handler', time(delivery.handlerMs)],
          ['Lag', time(delivery.lagMs)],
          ['Secret', delivery.secretId],
          ['Process', delivery.process],
        ]}
      />
    </>
  );
}

const attemptText = (attempt: number, left: number | undefined): string =>
  left === undefined ? String(attempt) : `${String(attempt)}, ${String(left)} left`;

function nextStep(outcome: string, isRetried: boolean, source: DeliveryRow['source']): string {
  if (outcome === 'replayed') return AFTER_REPLAY;
  return (isRetried ? AFTER_FAILURE : AFTER_SUCCESS)[source];
}

/** What an outcome means, what happens now, and the fix. */
function OutcomeNote({
  delivery: { outcome, result, source },
}: {
  readonly delivery: DeliveryRow;
}) {
  const row = useOutcome(outcome);
  if (!row) return null;
  return (
    <div class="outcome-note" data-tone={RESULTS[result][1]}>
      <p>{row.when}</p>
      <p>
        <strong>{nextStep(outcome, row.service === 'retried', source)}</strong>
      </p>
      <p>
        {row.fix}{' '}
        <a class="link" href={row.docs} target="_blank" rel="noreferrer">
          More about {outcome}
        </a>
      </p>
    </div>
  );
}

/** What happened to the same webhook id before: it was queued, and a worker ran it. */
const Earlier = ({ rows }: { readonly rows: readonly DeliveryRow[] }) => (
  <div>
    <h4>Earlier outcomes</h4>
    <ul class="results">
      {rows.map((row) => (
        <li key={`${String(row.at)} ${row.outcome} ${row.source}`}>
          <When at={row.at} /> <code class="code-name">{row.outcome}</code>, from{' '}
          {SOURCES[row.source][1]}
          {row.error !== undefined && <p class="error-line">{row.error}</p>}
        </li>
      ))}
    </ul>
  </div>
);
