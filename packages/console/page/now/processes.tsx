import { Badge, count, duration, Table, type Tone } from '@call-webhooks/ui';
import type { ProcessSeen } from '../../src/api-types.ts';
import { Ago, None } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';

const STATES: Readonly<Record<ProcessSeen['state'], readonly [string, Tone]>> = {
  active: ['Active', 'good'],
  quiet: ['Quiet', 'muted'],
  lost: ['Lost', 'bad'],
  closed: ['Closed', 'muted'],
};

/** The processes that receive or work, and those that just went. */
export const ProcessesSection = ({ processes }: { readonly processes: readonly ProcessSeen[] }) => (
  <Section title="Processes of the last 50 hours">
    <Table
      label="Processes"
      rows={processes}
      keyOf={({ id }) => id}
      empty="No process has written yet."
      columns={[
        { name: 'Process', cell: ({ host, pid }) => `${host}, ${String(pid)}` },
        ...(processes.some(({ version }) => version !== undefined)
          ? [{ name: 'Version', cell: ({ version }: ProcessSeen) => version ?? <None /> }]
          : []),
        { name: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
        { name: 'Last write', cell: ({ seenAt }) => <Ago at={seenAt} /> },
        { name: 'In flight at that time', align: 'end', cell: ({ inFlight }) => count(inFlight) },
        { name: 'State', cell: (process) => <ProcessState process={process} /> },
      ]}
    />
    <p class="hint">
      A process writes to the log once a second while it is handling deliveries. It is shown as
      active if it has written in the last 10 seconds. A quiet process has no deliveries, has died,
      or returns 404 before its receiver is reached: check each process with{' '}
      <code>npx call-webhooks doctor --to URL</code>.
    </p>
  </Section>
);

function ProcessState({ process: { state, clockAheadMs } }: { readonly process: ProcessSeen }) {
  const [text, tone] = STATES[state];
  return (
    <>
      <Badge tone={tone}>{text}</Badge>{' '}
      {state === 'lost' &&
        'It was handling deliveries when it last wrote, so it has probably died. '}
      {clockAheadMs !== undefined && (
        <>
          <Badge tone="wait">Clock</Badge> {duration(Math.abs(clockAheadMs))}{' '}
          {clockAheadMs > 0 ? 'ahead' : 'behind'}. Synchronize the clock (NTP), or deliveries will
          be rejected.
        </>
      )}
    </>
  );
}
