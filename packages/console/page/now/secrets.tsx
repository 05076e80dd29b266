import { Badge, count, Table, type Tone } from '@call-webhooks/ui';
import type { SecretState, SecretUse } from '../../src/api-types.ts';
import { Ago, None } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';

/** Which secret verified what, in all processes: whether a rotation is complete. */
export const SecretsSection = ({ secrets }: { readonly secrets: readonly SecretUse[] }) => (
  <Section title="Secrets">
    <Table
      label="Secrets"
      rows={secrets}
      keyOf={({ id }) => id}
      empty="No delivery has been verified yet. Once one has, its secret is listed here by id, never by value."
      columns={[
        { name: 'Secret', cell: ({ id }) => <code>{id}</code> },
        ...(secrets.some(({ tenants }) => tenants.length > 0)
          ? [
              {
                name: 'Tenant',
                cell: ({ tenants }: SecretUse) =>
                  tenants.length > 0 ? tenants.join(', ') : <None />,
              },
            ]
          : []),
        { name: 'Last hour', align: 'end', cell: ({ lastHour }) => count(lastHour) },
        { name: 'Last 26 hours', align: 'end', cell: ({ verified }) => count(verified) },
        {
          name: 'Last used',
          cell: ({ lastAt }) => (lastAt === null ? 'not in the last 30 days' : <Ago at={lastAt} />),
        },
        { name: 'What it means', cell: (secret) => <State {...secret} /> },
      ]}
    />
    {secrets.length > 0 && (
      <p class="hint">
        A rotation is complete once deliveries are arriving and none of them has been verified with
        the old secret for ten minutes. Then remove the old secret.
      </p>
    )}
  </Section>
);

const STATES: Readonly<Record<SecretState, readonly [string, Tone]>> = {
  'in-use': ['In use', 'good'],
  quiet: ['Quiet', 'muted'],
  'being-replaced': ['Being replaced', 'wait'],
  replaced: ['Replaced', 'muted'],
  unused: ['Unused', 'muted'],
  'new-id': ['New id', 'info'],
  renamed: ['Renamed', 'muted'],
  'not-configured': ['Not configured', 'wait'],
};

const State = ({ state, others }: SecretUse) => {
  const [text, tone] = STATES[state];
  return (
    <>
      <Badge tone={tone}>{text}</Badge> <Meaning state={state} others={others} />
    </>
  );
};

function Meaning({ state, others }: Pick<SecretUse, 'state' | 'others'>) {
  const names = others.map((id, at) => (
    <>
      {at > 0 && ', '}
      <code key={id}>{id}</code>
    </>
  ));
  switch (state) {
    case 'in-use':
      return null;
    case 'quiet':
      return <>No delivery has been verified with it in the last hour.</>;
    case 'being-replaced':
      return (
        <>
          The latest delivery of each of its events was verified with {names}. If this is the old
          secret of a rotation, remove it once no delivery has been verified with it for ten
          minutes.
        </>
      );
    case 'replaced':
      return (
        <>
          The latest delivery of each of its events was verified with {names}. If this is the old
          secret of a rotation, you can remove it.
        </>
      );
    case 'unused':
      return (
        <>
          No delivery has been verified with it. If it is the old secret of a rotation, you can
          remove it. If it is new, check that its action in the service uses it.
        </>
      );
    case 'new-id':
      return (
        <>
          No delivery has been verified with it since it was first listed under this id. Earlier
          deliveries are listed under {names}.
        </>
      );
    case 'renamed':
      return (
        <>
          The number of secrets with this id has changed in the process that responded. It now lists
          them as {names}.
        </>
      );
    case 'not-configured':
      return (
        <>
          The process that responded does not have this secret. Another process has it, or had it
          before.
        </>
      );
  }
}
