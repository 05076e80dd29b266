import { Badge, count, Table, type Tone } from '@call-webhooks/ui';
import type { SecretState, SecretUse } from '../../src/api-types.ts';
import { Ago } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';

/** Which secret verified what, in all processes: whether a rotation is complete. */
export const SecretsSection = ({ secrets }: { readonly secrets: readonly SecretUse[] }) => (
  <Section title="Secrets">
    <Table
      label="Secrets"
      rows={secrets}
      keyOf={({ id }) => id}
      empty="No secret has verified a delivery yet. Each secret that does is listed here by its id, never by its value."
      columns={[
        { name: 'Secret', cell: ({ id }) => <code>{id}</code> },
        { name: 'Last hour', align: 'end', cell: ({ lastHour }) => count(lastHour) },
        { name: 'Last 26 hours', align: 'end', cell: ({ verified }) => count(verified) },
        {
          name: 'Last use',
          cell: ({ lastAt }) => (lastAt === null ? 'not in 30 days' : <Ago at={lastAt} />),
        },
        { name: 'What it means', cell: (secret) => <State {...secret} /> },
      ]}
    />
    {secrets.length > 0 && (
      <p class="hint">
        A rotation is complete when deliveries arrive and the old secret has verified none of them
        for ten minutes. Then remove the old secret.
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
          secret of a rotation, remove it once it has verified nothing for ten minutes.
        </>
      );
    case 'replaced':
      return (
        <>
          The latest delivery of each of its events was verified with {names}. If this is the old
          secret of a rotation, it can be removed.
        </>
      );
    case 'unused':
      return (
        <>
          No delivery has been verified with it. If it is the old secret of a rotation, it can be
          removed. If it is new, check the action that it belongs to.
        </>
      );
    case 'new-id':
      return (
        <>
          No delivery has been verified with it since it is listed under this id. Earlier ones are
          listed under {names}.
        </>
      );
    case 'renamed':
      return (
        <>
          The receiver that answered has a different number of secrets under this id than before,
          and lists them as {names}.
        </>
      );
    case 'not-configured':
      return (
        <>
          The receiver that answered does not have this secret. Another process has it, or had it
          earlier.
        </>
      );
  }
}
