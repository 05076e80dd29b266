import { Table } from '@call-webhooks/ui';
import type { Summary } from '../../src/api-types.ts';
import { count } from '../model/format.ts';
import { OutcomeWords } from '../parts/outcome.tsx';
import { Link } from '../parts/link.tsx';
import { Section } from '../parts/section.tsx';

interface OutcomesProps {
  readonly summary: Summary;
  readonly range: 'hour' | 'day';
}

/** How often each outcome came, with its meaning and fix. */
export function OutcomesSection({ summary, range }: OutcomesProps) {
  const rows = Object.entries(summary.outcomes).sort(([, one], [, other]) => other - one);
  return (
    <Section title={`Outcomes of the last ${range}`}>
      <Table
        label="Outcomes"
        rows={rows}
        keyOf={([code]) => code}
        empty="No delivery has ended in this time."
        columns={[
          {
            name: 'Outcome',
            cell: ([code]) => (
              <Link to="deliveries" query={{ outcome: code }}>
                <code class="code-name">{code}</code>
              </Link>
            ),
          },
          { name: 'Deliveries', align: 'end', cell: ([, times]) => count(times) },
          { name: 'What it means', cell: ([code]) => <OutcomeWords code={code} /> },
        ]}
      />
    </Section>
  );
}
