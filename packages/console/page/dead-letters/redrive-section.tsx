import { ActionButton, Badge, count, counted, openForm } from '@call-webhooks/ui';
import type { DeadLetterSelection, RedriveTask, Tasks } from '../../src/api-types.ts';
import { useSession, useTasks } from '../model/session.ts';
import { REDRIVE_RESULTS, sentence, TASK_STATES } from '../model/words.ts';
import { Ago } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';

/** Asks before many run. @param which names them: those of a cause, for instance */
export function askToRedrive(total: number, which: string, run: () => Promise<void>): void {
  openForm({
    title: `Redrive ${counted(total, 'dead letter')}?`,
    go: 'Redrive',
    content: (
      <>
        <p class="error-line">{which}</p>
        <p>
          {total === 1 ? 'It runs' : 'They run'} again, a few at a time. What succeeds is gone from
          this list. What fails waits here with its new error.
        </p>
      </>
    ),
    run,
  });
}

interface AllProps {
  readonly selection: DeadLetterSelection;
  /** How many letters match. */
  readonly total: number;
}

/** Runs all letters again that match. */
export function RedriveAll({ selection, total }: AllProps) {
  const { canWrite } = useSession();
  const { tasks, redrive } = useTasks();
  if (!canWrite || total === 0) return null;
  const isFiltered = Object.keys(selection).length > 0;
  return (
    <div class="buttons">
      <ActionButton
        label={isFiltered ? 'Redrive all that match …' : 'Redrive all …'}
        disabled={tasks?.redrive?.state === 'running'}
        run={() =>
          askToRedrive(total, isFiltered ? 'All that match the filters.' : 'All of them.', () =>
            redrive(isFiltered ? { filter: selection } : { all: true }),
          )
        }
      />
    </div>
  );
}

/** How far a redrive is, in whichever process, and what became of its letters. */
export function RedriveSection() {
  const { canWrite } = useSession();
  const { tasks, stop } = useTasks();
  const task = tasks?.redrive;
  if (!task) return null;
  const [text, tone] = TASK_STATES[task.state];
  return (
    <Section
      title={task.state === 'running' ? 'A redrive runs' : 'The last redrive'}
      beside={
        <span class="hint">
          <Badge tone={tone}>{text}</Badge> {task.by !== null && `by ${task.by}, `}
          <Ago at={task.endedAt ?? task.startedAt} />
        </span>
      }
    >
      {task.cause !== undefined && <p class="error-line">Of the cause “{task.cause}”</p>}
      <Progress task={task} />
      <TaskTrouble
        task={task}
        tasks={tasks}
        rest="What was not run yet still waits: redrive it again."
      />
      {task.state === 'running' && canWrite && (
        <div class="buttons">
          <ActionButton label="Stop" small run={() => stop('redrive')} />
        </div>
      )}
    </Section>
  );
}

interface TroubleProps {
  readonly task: Pick<RedriveTask, 'state' | 'error'>;
  readonly tasks: Tasks;
  /** What to do about what was not done. */
  readonly rest: string;
}

/** What went wrong with a task, and what to do. */
export const TaskTrouble = ({ task: { state, error }, tasks: { shared }, rest }: TroubleProps) => (
  <>
    {error !== undefined && (
      <p class="form-error" role="alert">
        {sentence(error)} {rest}
      </p>
    )}
    {state === 'lost' && (
      <p class="form-error">Its process died, or could not reach the store. {rest}</p>
    )}
    {!shared && (
      <p class="hint">
        The store of this receiver has no cursors, so only the process that answered is shown here.
      </p>
    )}
  </>
);

function Progress({ task: { total, counts, state, retries } }: { readonly task: RedriveTask }) {
  const ended = REDRIVE_RESULTS.reduce((sum, [result]) => sum + counts[result], 0);
  const text = total === null ? 'Counting …' : `${count(ended)} of ${count(total)}`;
  return (
    <div class="progress" role="status">
      {state === 'running' && (
        <progress
          aria-label="Letters that were run"
          {...(total !== null && { value: ended, max: Math.max(1, total) })}
        />
      )}
      <span>{text}</span>
      {REDRIVE_RESULTS.filter(([result]) => counts[result] > 0).map(([result, words, tone]) => (
        <Badge key={result} tone={tone}>
          {count(counts[result])} {words}
        </Badge>
      ))}
      {retries > 0 && (
        <span class="hint">
          A store failed {counted(retries, 'time')}; each time it was asked again.
        </span>
      )}
    </div>
  );
}
