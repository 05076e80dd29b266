import { Table } from '@call-webhooks/ui';
import type { ProcessSummary } from '../../src/api-types.ts';
import { count, duration } from '../model/format.ts';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/when.tsx';

interface ProcessesProps {
  readonly processes: readonly ProcessSummary[];
  /** The one that answered. */
  readonly answered: string;
  readonly shared: boolean;
}

/** The processes that receive or work. */
export const ProcessesSection = ({ processes, answered, shared }: ProcessesProps) => (
  <Section title={shared ? 'Processes' : 'This process'}>
    <Table
      label="Processes"
      rows={processes}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Process',
          cell: ({ id, host, pid }) => (
            <>
              {host}, {pid}
              {shared && id === answered && <span class="hint"> (answered)</span>}
            </>
          ),
        },
        { name: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
        { name: 'Last hour', align: 'end', cell: ({ summary }) => count(summary.deliveries) },
        { name: 'In flight', align: 'end', cell: ({ inFlight }) => count(inFlight.deliveries) },
        {
          name: 'Handler p95',
          align: 'end',
          cell: ({ summary }) => (summary.handlerMs ? duration(summary.handlerMs.p95) : '–'),
        },
        ...(shared
          ? [{ name: 'Seen', cell: ({ seenAt }: ProcessSummary) => <Ago at={seenAt} /> }]
          : []),
      ]}
    />
  </Section>
);
