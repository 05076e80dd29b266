import { ActionButton, Button, count, Table } from '@call-webhooks/ui';
import type { Cause, DeadLetterSelection, DeadLettersPage } from '../../src/api-types.ts';
import { filterBy } from '../model/place.ts';
import { useSession, useTasks } from '../model/session.ts';
import { Link, When } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';
import { askToRedrive } from './redrive-section.tsx';

interface CausesProps {
  readonly page: DeadLettersPage;
  readonly selection: DeadLetterSelection;
}

/** Why they failed: errors that differ only in ids, times, long numbers and quoted sentences are one cause. */
export function CausesSection({ page: { causes }, selection }: CausesProps) {
  const { canWrite } = useSession();
  const { tasks, redrive } = useTasks();
  if (causes.length === 0) return null;
  const isRunning = tasks?.redrive?.state === 'running';
  const redriveButton = (cause: Cause) => (
    <ActionButton
      label={`Redrive ${cause.count === 1 ? 'this one' : `these ${count(cause.count)}`} …`}
      small
      disabled={isRunning}
      run={() => {
        askToRedrive(cause.count, `“${cause.text}”`, () =>
          redrive({ filter: { ...selection, cause: cause.id } }),
        );
      }}
    />
  );
  return (
    <Section title="Causes">
      <Table
        label="Causes"
        rows={causes}
        keyOf={({ id }) => id}
        selected={selection.cause}
        columns={[
          { name: 'Letters', align: 'end', cell: (cause) => count(cause.count) },
          {
            name: 'Cause',
            cell: ({ text, example }) => (
              <>
                <span class="error-line">{text}</span>{' '}
                <Link to="dead-letters" query={{ letter: example.id }}>
                  Open an example
                </Link>
              </>
            ),
          },
          {
            name: 'Events',
            minor: true,
            cell: ({ eventNames }) => <span class="event-name">{eventNames.join(', ')}</span>,
          },
          { name: 'First', minor: true, cell: ({ firstAt }) => <When at={firstAt} /> },
          { name: 'Last', cell: ({ lastAt }) => <When at={lastAt} /> },
          {
            name: 'Do',
            cell: (cause) => (
              <div class="buttons">
                <Button
                  label={cause.id === selection.cause ? 'Show all' : 'Show these'}
                  small
                  onClick={() =>
                    filterBy({ cause: cause.id === selection.cause ? undefined : cause.id })
                  }
                />
                {canWrite && redriveButton(cause)}
              </div>
            ),
          },
        ]}
      />
    </Section>
  );
}
