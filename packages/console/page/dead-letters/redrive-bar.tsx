import { ActionButton, openForm } from '@call-webhooks/ui';
import { counted } from '../model/format.ts';
import { useSession } from '../model/session.ts';
import type { LetterFilter } from './query.ts';
import type { Redrive } from './use-redrive.ts';

interface BarProps {
  readonly redrive: Redrive;
  /** The ids of the letters that are ticked. */
  readonly chosen: readonly string[];
  readonly filter: LetterFilter;
  readonly isFiltered: boolean;
  /** How many letters match. */
  readonly total: number;
}

/** Runs letters again: those that are ticked, or all that match. Many at once are asked for first. */
export function RedriveBar({ redrive, chosen, filter, isFiltered, total }: BarProps) {
  const { canWrite } = useSession();
  if (!canWrite || total === 0) return null;
  const { isRunning } = redrive;
  const ask = () => {
    openForm({
      title: `Redrive ${counted(total, 'dead letter')}?`,
      go: 'Redrive',
      content: (
        <p>
          {total === 1
            ? 'It runs again. If it succeeds, it is gone from this list. If it fails, it waits here with its new error.'
            : `${isFiltered ? 'All that match the filters run' : 'All of them run'} again, a few at a time. Those that succeed are gone from this list. Those that fail wait here with their new error.`}
        </p>
      ),
      run: () => redrive.start(isFiltered ? { filter } : { all: true }),
    });
  };
  return (
    <div class="buttons">
      <ActionButton
        label={
          chosen.length === 0 ? 'Redrive selected' : `Redrive ${String(chosen.length)} selected`
        }
        kind="primary"
        icon="again"
        disabled={isRunning || chosen.length === 0}
        run={() => redrive.start({ ids: [...chosen] })}
      />
      <ActionButton
        label={isFiltered ? `Redrive all that match` : 'Redrive all'}
        disabled={isRunning}
        run={ask}
      />
    </div>
  );
}
