import { changeUrl, moment } from '@call-webhooks/ui';
import type { DeliveryRow } from '../../src/api-types.ts';
import { duration } from '../model/format.ts';
import { useOutcome } from '../model/session.ts';
import { AFTER_FAILURE, AFTER_SUCCESS, SOURCES } from '../model/words.ts';
import { DetailHead } from '../parts/detail-head.tsx';
import { Link } from '../parts/link.tsx';
import { isDeadLetter, ResultBadge } from '../parts/outcome.tsx';
import { Facts } from '../parts/section.tsx';

const time = (ms: number | undefined) => (ms === undefined ? undefined : duration(ms));

/** Everything that is known of a delivery; first what its outcome means and what to do. */
export function DeliveryDetail({ delivery }: { readonly delivery: DeliveryRow }) {
  const { id, outcome, result, callId, tenant, error, attempt, attemptsLeft } = delivery;
  return (
    <section class="detail section" aria-label="Delivery">
      <DetailHead
        title={outcome}
        opener={`delivery-${id}`}
        onClose={() => {
          changeUrl({ delivery: undefined });
        }}
      >
        <ResultBadge result={result} outcome={outcome} />
      </DetailHead>
      <OutcomeNote delivery={delivery} />
      {error && (
        <div class="error-text">
          <strong>{error.code}</strong>
          <p>{error.message}</p>
        </div>
      )}
      {callId !== undefined && (
        <p>
          <Link to="deliveries" query={{ call: callId, ...(tenant !== undefined && { tenant }) }}>
            Show the call over its three events
          </Link>
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
          ['Came from', SOURCES[delivery.source]],
          ['Answer', `${String(delivery.status)}, after ${duration(delivery.durationMs)}`],
          ['Handler', time(delivery.handlerMs)],
          ['Store', time(delivery.storeMs)],
          ['Waited for its group', time(delivery.waitMs)],
          ['Lag', time(delivery.lagMs)],
          ['Secret', delivery.secretId],
        ]}
      />
    </section>
  );
}

const attemptText = (attempt: number, left: number | undefined): string =>
  left === undefined ? String(attempt) : `${String(attempt)}, ${String(left)} left`;

const TONES = { acknowledged: 'good', failed: 'bad', refused: 'wait' } as const;

/** What an outcome means, what happens now, and the fix. */
function OutcomeNote({ delivery }: { readonly delivery: DeliveryRow }) {
  const { outcome: code, result, source } = delivery;
  const row = useOutcome(code);
  if (!row) return null;
  return (
    <div class="outcome-note" data-tone={isDeadLetter(delivery) ? 'bad' : TONES[result]}>
      <p>{row.when}</p>
      <p>
        <strong>{(row.service === 'retried' ? AFTER_FAILURE : AFTER_SUCCESS)[source]}</strong>
      </p>
      <p>
        {row.fix}{' '}
        <a class="link" href={row.docs} target="_blank" rel="noreferrer">
          More about {code}
        </a>
      </p>
    </div>
  );
}
