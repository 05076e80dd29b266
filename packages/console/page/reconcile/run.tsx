import { Fragment, type ComponentChildren } from 'preact';
import { Badge, count, counted, shortTime, Table, Tag } from '@call-webhooks/ui';
import type { MissReason, ReconciledRow, ReconcileTask } from '../../src/api-types.ts';
import { EVENT_STATES, RECONCILE_COUNTS, TASK_STATES } from '../model/words.ts';
import { CallLink, Link, When } from '../parts/cells.tsx';
import { Marked } from '../parts/marked.tsx';

/** `Calls from 08:00:00 to 11:50:00`. */
export const windowText = ({ since, until }: Pick<ReconcileTask, 'since' | 'until'>): string =>
  `Calls from ${shortTime(since)} to ${shortTime(until)}`;

interface RunProps {
  readonly run: ReconcileTask;
  /** What can be done about it. */
  readonly children?: ComponentChildren;
}

/** One run: who ran it and when, what was found and why, and which events. */
export function Run({ run, children }: RunProps) {
  const { by, dryRun, startedAt, state, counts, events, reasons } = run;
  const [text, tone] = TASK_STATES[state];
  return (
    <div class="run">
      <p>
        <Badge tone={tone}>{text}</Badge> {dryRun && <Badge tone="info">Dry run</Badge>}{' '}
        <When at={startedAt} />
        {by !== null && ` by ${by}`}. {windowText(run)}
        {run.tenant !== undefined && ` of tenant ${run.tenant}`}.
        {run.askedSince !== undefined &&
          ' The store remembers no events from before that, so earlier calls are left out.'}
      </p>
      {(state !== 'failed' || counts.seen > 0) && <Totals run={run} />}
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={[reason.kind, reason.eventName, reason.from].join()}>
              <Reason reason={reason} tenant={run.tenant} />
            </li>
          ))}
        </ul>
      )}
      {children}
      {events.length > 0 && <Events events={events} dryRun={dryRun} tenant={run.tenant} />}
    </div>
  );
}

/** Of a run that did not end, what it had done by then. */
const Totals = ({ run: { state, counts } }: { readonly run: ReconcileTask }) => (
  <p role={state === 'running' ? 'status' : undefined}>
    {state !== 'done' && state !== 'running' && 'Before it ended: '}
    {counted(counts.seen, 'call')} checked.{' '}
    {state === 'done' && counts.missed === 0 && 'Nothing was missed.'}{' '}
    {RECONCILE_COUNTS.filter(([name]) => counts[name] > 0).map(([name, words, tone]) => (
      <Badge key={name} tone={tone}>
        {count(counts[name])} {words}
      </Badge>
    ))}
  </p>
);

interface ReasonProps {
  readonly reason: MissReason;
  /** Whose calls they are. */
  readonly tenant: string | undefined;
}

/** The webhook of an event comes within so long; milliseconds. */
const SOON_MS = 180_000;

/** Why events were missed, as far as the log of outcomes tells. */
function Reason({ reason, tenant }: ReasonProps) {
  const { missed, text, outcomes, from, until } = reason;
  return (
    <p>
      <strong>{counted(missed, 'event')}:</strong> <Marked text={text} />
      {outcomes.map((outcome) => (
        <Fragment key={outcome}>
          {' '}
          <Link
            to="deliveries"
            query={{
              ...{ outcome, source: 'webhook' },
              ...(tenant !== undefined && { tenant }),
              ...(from !== null && { since: String(from) }),
              ...(until !== null && { until: String(until + SOON_MS) }),
            }}
          >
            Show <code class="code-name">{outcome}</code>
          </Link>
        </Fragment>
      ))}
    </p>
  );
}

/** The reason of one event, in a few words. */
const WHY: Readonly<Record<MissReason['kind'], string>> = {
  silence: 'nothing arrived',
  'event-silence': 'no such event arrived',
  rejected: 'rejected',
  failed: 'failed before it was stored',
  single: 'lost in transit',
  unknown: 'unknown',
};

/** What was missed comes first, then what failed so far: both run. */
const rank = ({ missed, state }: ReconciledRow) => (missed ? 0 : state === 'failed' ? 1 : 2);

interface EventsProps {
  readonly events: readonly ReconciledRow[];
  readonly dryRun: boolean;
  readonly tenant: string | undefined;
}

const Events = ({ events, dryRun, tenant }: EventsProps) => (
  <details open={events.some(({ missed }) => missed)}>
    <summary>Events ({count(events.length)})</summary>
    <Table
      label="Reconciled events"
      rows={[...events].sort((one, other) => rank(one) - rank(other))}
      keyOf={({ callId, eventName }) => `${callId} ${eventName}`}
      columns={[
        { name: 'Call', cell: ({ callId }) => <CallLink callId={callId} tenant={tenant} /> },
        { name: 'Event', cell: ({ eventName }) => <span class="event-name">{eventName}</span> },
        { name: 'Happened', cell: ({ at }) => <When at={at} /> },
        {
          name: dryRun ? 'The store knows' : 'Outcome',
          cell: ({ missed, state, outcome }) => (
            <>
              {missed && <Badge tone="bad">Missed</Badge>} {state && <State state={state} />}
              {outcome !== undefined && <RunOutcome outcome={outcome} />}
            </>
          ),
        },
        ...(events.some(({ reason }) => reason !== undefined)
          ? [{ name: 'Why', cell: ({ reason }: ReconciledRow) => reason && WHY[reason] }]
          : []),
      ]}
    />
  </details>
);

/** What was left alone keeps the word that the dry run had for it. */
const RunOutcome = ({ outcome }: { readonly outcome: string }) => {
  const known = LEFT_ALONE[outcome];
  return known === undefined ? <code class="code-name">{outcome}</code> : <State state={known} />;
};

const LEFT_ALONE: Readonly<Record<string, string>> = {
  duplicate: 'handled',
  'in-dead-letters': 'dead-lettered',
  'in-progress': 'running',
};

const State = ({ state }: { readonly state: string }) => {
  const [text, tone] = EVENT_STATES[state] ?? [state, 'muted'];
  return tone === 'muted' ? <Tag>{text}</Tag> : <Badge tone={tone}>{text}</Badge>;
};
