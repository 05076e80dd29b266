import { Badge, Table } from '@call-webhooks/ui';
import type { ReconcileRun } from '../../src/api-types.ts';
import { count, counted } from '../model/format.ts';
import { Link } from '../parts/link.tsx';
import { When } from '../parts/when.tsx';
import { COUNTS, STATES, windowText } from './words.tsx';

/** One run: who ran it and when, what was found, and which events. */
export function Run({ run }: { readonly run: ReconcileRun }) {
  const { by, dryRun, startedAt, state, error, counts, events } = run;
  const [text, tone] = STATES[state];
  return (
    <div class="run">
      <p>
        <Badge tone={tone}>{text}</Badge> {dryRun && <Badge tone="info">Dry run</Badge>}{' '}
        <When at={startedAt} />
        {by !== null && ` by ${by}`}. {windowText(run)}.
        {run.askedSince !== undefined &&
          ' The store knows nothing from before, so earlier calls are left out.'}
      </p>
      {error !== undefined && <p class="form-error">{error}</p>}
      {(state !== 'failed' || counts.seen > 0) && <Totals run={run} />}
      {events.length > 0 && <Events run={run} />}
    </div>
  );
}

/** Of a run that failed, what it had done by then. */
const Totals = ({ run: { dryRun, state, counts } }: { readonly run: ReconcileRun }) => (
  <p role={state === 'running' ? 'status' : undefined}>
    {state === 'failed' && 'Until then: '}
    {counted(counts.seen, 'call')} looked at.{' '}
    {dryRun
      ? `${counted(counts.expected, 'event')} should have come. Whether they did is looked up when it is run for real.`
      : state === 'done' && counts.missed === 0 && 'Nothing was missed.'}{' '}
    {COUNTS.filter(([name]) => counts[name] > 0).map(([name, words, tone]) => (
      <Badge key={name} tone={tone}>
        {count(counts[name])} {words}
      </Badge>
    ))}
  </p>
);

const Events = ({ run: { dryRun, events } }: { readonly run: ReconcileRun }) => (
  <details>
    <summary>
      {dryRun ? 'Events that should have come' : 'Events that were missed'} ({count(events.length)})
    </summary>
    <Table
      label={dryRun ? 'Events that should have come' : 'Missed events'}
      rows={events}
      keyOf={({ callId, eventName }) => `${callId} ${eventName}`}
      columns={[
        {
          name: 'Call',
          cell: ({ callId }) => (
            <Link to="deliveries" query={{ call: callId }}>
              <code class="id">{callId}</code>
            </Link>
          ),
        },
        { name: 'Event', cell: ({ eventName }) => eventName },
        {
          name: 'Outcome',
          cell: ({ outcome }) =>
            outcome === undefined ? (
              <span class="hint">not run</span>
            ) : (
              <code class="code-name">{outcome}</code>
            ),
        },
      ]}
    />
  </details>
);
