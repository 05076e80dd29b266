import { Button, count, counted, Table, usePoll, useUrl } from '@call-webhooks/ui';
import type { FailureCause, FailureCauses } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { filterBy, filtersIn } from '../model/place.ts';
import { When } from '../parts/cells.tsx';
import { ErrorBox, Section } from '../parts/section.tsx';

const EVERY_MS = 10_000;

/** Why deliveries failed: grouped as dead letters are, of the time, event and tenant that are chosen. */
export function FailuresSection() {
  const url = useUrl();
  const query = filtersIn(url, ['since', 'until', 'event', 'tenant']);
  const { value, error } = usePoll(`failures ${JSON.stringify(query)}`, EVERY_MS, (signal) =>
    get<FailureCauses>('api/failures', query, signal),
  );
  const chosen = url.get('cause');
  if (!value || value.causes.length === 0) return <ErrorBox error={error} />;
  return (
    <Section
      title="Causes of failures"
      beside={
        <span class="hint">
          {counted(value.failures, 'failure')} since <When at={value.searchedTo} />
        </span>
      }
    >
      <ErrorBox error={error} />
      <Table
        label="Causes of failures"
        rows={value.causes}
        keyOf={({ id }) => id}
        selected={chosen ?? undefined}
        columns={[
          { name: 'Failures', align: 'end', cell: (cause) => count(cause.count) },
          { name: 'Cause', cell: ({ text }) => <span class="error-line">{text}</span> },
          { name: 'Still open', cell: (cause) => openText(cause) },
          {
            name: 'Events',
            minor: true,
            cell: ({ eventNames }) => <span class="event-name">{eventNames.join(', ')}</span>,
          },
          { name: 'First', minor: true, cell: ({ firstAt }) => <When at={firstAt} /> },
          { name: 'Last', cell: ({ lastAt }) => <When at={lastAt} /> },
          {
            name: 'Actions',
            cell: ({ id }) => (
              <Button
                label={id === chosen ? 'Show all' : 'Show these'}
                small
                onClick={() => filterBy({ cause: id === chosen ? undefined : id })}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}

/** What became of the events. */
function openText({ events, open }: FailureCause): string {
  if (events === 0) return 'events unknown';
  if (open === null) return counted(events, 'event');
  return `${count(open)} of ${counted(events, 'event')}`;
}
