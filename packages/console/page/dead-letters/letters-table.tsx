import { Button, changeUrl, count, counted, notifyError, Table, Tag } from '@call-webhooks/ui';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { DeadLetterRow } from '../../src/api-types.ts';
import { useSession, useTasks } from '../model/session.ts';
import { REASONS } from '../model/words.ts';
import { CallLink, opener, RowLink, When } from '../parts/cells.tsx';
import { areBusy, askToRedrive, askToRemove } from './letters-tasks.tsx';

/** As many as the API takes at once. */
const MOST_CHOSEN = 500;

/** Which letters are selected, on whichever page of the list. */
export interface Choosing {
  readonly chosen: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
  readonly clear: () => void;
}

export function useChoosing(): Choosing {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = useCallback((ids: readonly string[], isChosen: boolean) => {
    setChosen((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (!isChosen) next.delete(id);
        else if (next.size < MOST_CHOSEN) next.add(id);
        else notifyError(`You can select at most ${count(MOST_CHOSEN)} dead letters.`);
      }
      return next;
    });
  }, []);
  const clear = useCallback(() => setChosen(new Set<string>()), []);
  return useMemo(() => ({ chosen, choose, clear }), [chosen, choose, clear]);
}

interface LettersTableProps {
  readonly label: string;
  readonly letters: readonly DeadLetterRow[];
  readonly choosing: Choosing;
  /** The id of the letter whose detail is open. */
  readonly selected: string | undefined;
  /** The id of the link that opens a letter. */
  readonly idOf?: (id: string) => string;
}

/** One row for each dead letter, newest first. */
export function LettersTable({
  label,
  letters,
  choosing: { chosen, choose },
  selected,
  idOf = (id) => `letter-${id}`,
}: LettersTableProps) {
  const { canWrite } = useSession();
  return (
    <Table
      label={label}
      rows={letters}
      keyOf={({ id }) => id}
      selected={selected}
      onOpen={({ id }) => {
        opener.id = idOf(id);
        changeUrl({ letter: id });
      }}
      columns={[
        ...(canWrite
          ? [
              {
                name: 'Select',
                cell: ({ id, eventName, callId }: DeadLetterRow) => (
                  <input
                    type="checkbox"
                    aria-label={`Select ${eventName ?? 'unknown event'}${callId === undefined ? '' : ` of ${callId}`}`}
                    checked={chosen.has(id)}
                    onChange={({ currentTarget }) => choose([id], currentTarget.checked)}
                  />
                ),
              },
            ]
          : []),
        { name: 'Last failed', cell: ({ failedAt }) => <When at={failedAt} /> },
        {
          name: 'Event',
          cell: ({ id, eventName, claimedUntil }) => (
            <>
              <span class="event-name">
                <RowLink id={idOf(id)} opens={{ letter: id }}>
                  {eventName ?? 'unknown event'}
                </RowLink>
              </span>{' '}
              {claimedUntil !== undefined && (
                <Tag title="A redrive is running this dead letter.">running</Tag>
              )}
            </>
          ),
        },
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
  );
}

/** What can be done with the selected letters. It stays in view while one is selected. */
export function ChosenBar({ choosing }: { readonly choosing: Choosing }) {
  const control = useTasks();
  const { chosen, clear } = choosing;
  if (chosen.size === 0) return null;
  const isBusy = areBusy(control.tasks);
  const question = {
    total: chosen.size,
    which: chosen.size === 1 ? 'The selected dead letter.' : 'The selected dead letters.',
    request: { ids: [...chosen] },
    control,
    onStarted: clear,
  };
  return (
    <div class="chosen-bar" role="region" aria-label="Selected dead letters">
      <span role="status">{count(chosen.size)} selected</span>
      <Button
        label="Redrive selected …"
        small
        disabled={isBusy}
        onClick={() => askToRedrive(question)}
      />
      <Button
        label="Remove selected …"
        small
        disabled={isBusy}
        onClick={() => askToRemove(question)}
      />
      <Button label="Clear selection" kind="ghost" small onClick={clear} />
    </div>
  );
}
