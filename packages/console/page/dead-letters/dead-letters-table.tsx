import { changeUrl, Table, Tag } from '@call-webhooks/ui';
import type { DeadLetterRow } from '../../src/api-types.ts';
import { counted } from '../model/format.ts';
import { useSession } from '../model/session.ts';
import { REASONS } from '../model/words.ts';
import { CallLink, RowLink } from '../parts/link.tsx';
import { When } from '../parts/when.tsx';

interface TableProps {
  readonly letters: readonly DeadLetterRow[];
  readonly selected: string | undefined;
  /** The ids of those that are ticked. */
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

/** One row for each dead letter, newest first. */
export function DeadLettersTable({ letters, selected, chosen, onChoose }: TableProps) {
  const { canWrite } = useSession();
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const id of ids)
      if (isChosen) next.add(id);
      else next.delete(id);
    onChoose(next);
  };
  return (
    <>
      {canWrite && (
        <label class="choose-all">
          <input
            type="checkbox"
            checked={letters.every(({ id }) => chosen.has(id))}
            onChange={({ currentTarget }) => {
              choose(
                letters.map(({ id }) => id),
                currentTarget.checked,
              );
            }}
          />
          Select all on this page
        </label>
      )}
      <Table
        label="Dead letters"
        rows={letters}
        keyOf={({ id }) => id}
        selected={selected}
        onOpen={({ id }) => {
          changeUrl({ letter: id });
        }}
        columns={[
          ...(canWrite
            ? [
                {
                  name: 'Select',
                  cell: (letter: DeadLetterRow) => (
                    <input
                      type="checkbox"
                      aria-label={`Select ${nameOf(letter)}`}
                      checked={chosen.has(letter.id)}
                      onChange={({ currentTarget }) => {
                        choose([letter.id], currentTarget.checked);
                      }}
                    />
                  ),
                },
              ]
            : []),
          { name: 'Failed', cell: ({ failedAt }) => <When at={failedAt} /> },
          { name: 'Event', cell: (letter) => <Opener letter={letter} /> },
          ...(letters.some(({ tenant }) => tenant !== undefined)
            ? [{ name: 'Tenant', cell: ({ tenant }: DeadLetterRow) => tenant ?? '' }]
            : []),
          {
            name: 'Reason',
            minor: true,
            cell: ({ reason, attempts }) =>
              `${REASONS[reason]}, after ${counted(attempts, 'attempt')}`,
          },
          { name: 'Error', cell: ({ error }) => <span class="error-line">{error}</span> },
          { name: 'Call', cell: (letter) => <CallLink {...letter} /> },
        ]}
      />
    </>
  );
}

const nameOf = ({ eventName, callId, webhookId }: DeadLetterRow) =>
  `${eventName ?? 'unknown event'} of ${callId ?? webhookId}`;

const Opener = ({
  letter: { id, eventName, claimedUntil },
}: {
  readonly letter: DeadLetterRow;
}) => (
  <>
    <span class="event-name">
      <RowLink id={`letter-${id}`} opens={{ letter: id }}>
        {eventName ?? 'unknown event'}
      </RowLink>
    </span>{' '}
    {claimedUntil !== undefined && <Tag title="A redrive has it.">running</Tag>}
  </>
);
