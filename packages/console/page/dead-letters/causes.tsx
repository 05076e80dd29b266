import { Button, count, Table } from '@call-webhooks/ui';
import type { Cause, DeadLetterSelection, DeadLettersPage } from '../../src/api-types.ts';
import { filterBy } from '../model/place.ts';
import { useSession, useTasks } from '../model/session.ts';
import { RowLink, When } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';
import { areBusy, askToRedrive, askToRemove } from './letters-tasks.tsx';

interface CausesProps {
  readonly page: DeadLettersPage;
  readonly selection: DeadLetterSelection;
}

/** Why they failed: errors that differ only in ids, times, long numbers and quoted sentences are one cause. */
export function CausesSection({ page: { causes }, selection }: CausesProps) {
  if (causes.length === 0) return null;
  return (
    <Section title="Causes">
      <Table
        label="Causes"
        rows={causes}
        keyOf={({ id }) => id}
        selected={selection.cause}
        columns={[
          { name: 'Dead letters', align: 'end', cell: (cause) => count(cause.count) },
          {
            name: 'Cause',
            cell: ({ id, text, example }) => (
              <>
                <span class="error-line">{text}</span>{' '}
                <RowLink id={`example-${id}`} opens={{ letter: example.id }}>
                  Open an example
                </RowLink>
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
            name: 'Actions',
            cell: (cause) => <CauseActions cause={cause} selection={selection} />,
          },
        ]}
      />
    </Section>
  );
}

interface ActionsProps {
  readonly cause: Cause;
  readonly selection: DeadLetterSelection;
}

function CauseActions({ cause, selection }: ActionsProps) {
  const { canWrite } = useSession();
  const control = useTasks();
  const isChosen = cause.id === selection.cause;
  const question = {
    total: cause.count,
    which: `“${cause.text}”`,
    request: { filter: { ...selection, cause: cause.id } },
    control,
  };
  const these = cause.count === 1 ? 'this one' : `these ${count(cause.count)}`;
  const isBusy = areBusy(control.tasks);
  return (
    <div class="buttons">
      <Button
        label={isChosen ? 'Show all' : 'Show these'}
        small
        onClick={() => filterBy({ cause: isChosen ? undefined : cause.id })}
      />
      {canWrite && (
        <>
          <Button
            label={`Redrive ${these} …`}
            small
            disabled={isBusy}
            onClick={() => askToRedrive(question)}
          />
          <Button
            label={`Remove ${these} …`}
            small
            disabled={isBusy}
            onClick={() => askToRemove(question)}
          />
        </>
      )}
    </div>
  );
}
