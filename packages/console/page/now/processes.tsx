import { Badge, count, duration, Table, type Tone } from '@call-webhooks/ui';
import type { ProcessSeen, SecretUse } from '../../src/api-types.ts';
import { Ago, None } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';

/** Which secret verified what, in all processes: whether a rotation is complete. */
export const SecretsSection = ({ secrets }: { readonly secrets: readonly SecretUse[] }) => (
  <Section title="Secrets">
    <Table
      label="Secrets"
      rows={secrets}
      keyOf={({ id }) => id}
      empty="No secret has verified a delivery yet. Each one that does is listed here by its id, never by its value."
      columns={[
        { name: 'Secret', cell: ({ id }) => <code>{id}</code> },
        { name: 'Last hour', align: 'end', cell: ({ lastHour }) => count(lastHour) },
        { name: 'Last 26 hours', align: 'end', cell: ({ verified }) => count(verified) },
        {
          name: 'Last use',
          cell: ({ lastAt }) => (lastAt === null ? 'not in 26 hours' : <Ago at={lastAt} />),
        },
        { name: 'What it means', cell: (secret) => <SecretState secret={secret} /> },
      ]}
    />
    {secrets.length > 0 && (
      <p class="hint">
        A rotation is complete when deliveries come and the old secret has verified none of them for
        ten minutes. Remove it then.
      </p>
    )}
  </Section>
);

function SecretState({ secret: { isConfigured, verified, lastHour } }: { secret: SecretUse }) {
  if (isConfigured === false)
    return (
      <>
        <Badge tone="wait">Not configured</Badge> The receiver that responded does not have it:
        another process does, or did.
      </>
    );
  if (verified === 0)
    return (
      <>
        <Badge tone="muted">Unused</Badge> Nothing was signed with it. An old one can be removed;
        for a new one, check the action that it belongs to.
      </>
    );
  if (lastHour === 0) return <Badge tone="muted">Not in the last hour</Badge>;
  return <Badge tone="good">In use</Badge>;
}

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
        { name: 'Wrote last', cell: ({ seenAt }) => <Ago at={seenAt} /> },
        { name: 'In flight then', align: 'end', cell: ({ inFlight }) => count(inFlight) },
        { name: 'State', cell: (process) => <ProcessState process={process} /> },
      ]}
    />
    <p class="hint">
      A process writes once a second while deliveries end. It is active if it wrote in the last 10
      seconds. A quiet one has no deliveries, or has died.
    </p>
  </Section>
);

function ProcessState({ process: { state, clockAheadMs } }: { readonly process: ProcessSeen }) {
  const [text, tone] = STATES[state];
  return (
    <>
      <Badge tone={tone}>{text}</Badge>{' '}
      {state === 'lost' && 'It was handling deliveries when it wrote last: it probably died. '}
      {clockAheadMs !== undefined && (
        <>
          <Badge tone="wait">Clock</Badge> {duration(Math.abs(clockAheadMs))}{' '}
          {clockAheadMs > 0 ? 'ahead' : 'behind'}: correct it (NTP), or deliveries are rejected.
        </>
      )}
    </>
  );
}
