import { ActionButton, Badge, count, counted, duration, openForm } from '@call-webhooks/ui';
import type { LettersRequest, LettersTask, Tasks } from '../../src/api-types.ts';
import { useSession, useTasks, type TaskControl } from '../model/session.ts';
import { sentence, TASK_STATES, TASKS } from '../model/words.ts';
import { Ago } from '../parts/cells.tsx';
import { revealById } from '../parts/reveal.ts';
import { Section } from '../parts/section.tsx';

/** What runs through many dead letters. */
type LettersTaskName = 'redrive' | 'removal';

const headingOf = (name: LettersTaskName) => `${name}-heading`;

interface Question {
  readonly total: number;
  /** Names them: those of a cause, for instance. */
  readonly which: string;
  readonly request: LettersRequest;
  readonly control: TaskControl;
  /** Called once it has started. */
  readonly onStarted?: () => void;
}

/** Asks before many run, and then shows how far they are. */
export function askToRedrive({ total, which, request, control, onStarted }: Question): void {
  openForm({
    title: `Redrive ${counted(total, 'dead letter')}?`,
    go: 'Redrive',
    content: (
      <>
        <p class="error-line">{which}</p>
        <p>
          {total === 1 ? 'It runs' : 'They run'} again, a few at a time. What succeeds is removed
          from this list. What fails waits here with its new error.
        </p>
      </>
    ),
    async run() {
      await control.redrive(request);
      onStarted?.();
      revealById(headingOf('redrive'));
    },
  });
}

/** Asks before many are removed, and then shows how far that is. */
export function askToRemove({ total, which, request, control, onStarted }: Question): void {
  openForm({
    title: `Remove ${counted(total, 'dead letter')}?`,
    go: 'Remove',
    danger: true,
    content: (
      <>
        <p class="error-line">{which}</p>
        <p>
          {total === 1
            ? 'It is removed for good, and its event is'
            : 'They are removed for good, and their events are'}{' '}
          never run. This cannot be undone.
        </p>
      </>
    ),
    async run() {
      await control.remove(request);
      onStarted?.();
      revealById(headingOf('removal'));
    },
  });
}

/** Whether letters are being run or removed, in whichever process. */
export const areBusy = (tasks: Tasks | undefined): boolean =>
  tasks?.redrive?.state === 'running' || tasks?.removal?.state === 'running';

/** How far a redrive or a removal is, and what became of its letters. */
export function LettersTasks() {
  const { tasks } = useTasks();
  const { redrive, removal } = tasks ?? {};
  // The one that began last comes first.
  const names: LettersTaskName[] =
    (removal?.startedAt ?? 0) > (redrive?.startedAt ?? 0)
      ? ['removal', 'redrive']
      : ['redrive', 'removal'];
  return <>{tasks && names.map((name) => <TaskSection key={name} name={name} tasks={tasks} />)}</>;
}

function TaskSection({ name, tasks }: { readonly name: LettersTaskName; readonly tasks: Tasks }) {
  const { canWrite } = useSession();
  const { stop } = useTasks();
  const task = tasks[name];
  if (!task) return null;
  const [text, tone] = TASK_STATES[task.state];
  const [title] = TASKS[name];
  return (
    <Section
      id={headingOf(name)}
      title={task.state === 'running' ? `${title} in progress` : `Last ${title.toLowerCase()}`}
      beside={
        <span class="hint">
          <Badge tone={tone}>{text}</Badge> {task.by !== null && `by ${task.by}, `}
          <Ago at={task.endedAt ?? task.startedAt} />
        </span>
      }
    >
      {task.cause !== undefined && <p class="error-line">Of the cause “{task.cause}”</p>}
      <Progress name={name} task={task} />
      <TaskTrouble
        task={task}
        tasks={tasks}
        rest={
          name === 'redrive'
            ? 'What was not run yet still waits: redrive it again.'
            : 'What was not removed yet is still there.'
        }
      />
      {task.state === 'running' && canWrite && (
        <div class="buttons">
          <ActionButton label="Stop" small run={() => stop(name)} />
        </div>
      )}
    </Section>
  );
}

interface TroubleProps {
  readonly task: Pick<LettersTask, 'state' | 'error'>;
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

interface ProgressProps {
  readonly name: LettersTaskName;
  readonly task: LettersTask & { readonly counts: object };
}

function Progress({ name, task }: ProgressProps) {
  const { total, state, retries } = task;
  const counts = task.counts as Readonly<Record<string, number>>;
  const [, results] = TASKS[name];
  const ended = results.reduce((sum, [result]) => sum + (counts[result] ?? 0), 0);
  const text = total === null ? 'Counting …' : `${count(ended)} of ${count(total)}`;
  return (
    <div class="progress" role="status">
      {state === 'running' && (
        <progress
          aria-label={name === 'redrive' ? 'Letters that were run' : 'Letters that were removed'}
          {...(total !== null && { value: ended, max: Math.max(1, total) })}
        />
      )}
      <span>{text}</span>
      {state === 'running' && <span class="hint">{paceText(task, ended)}</span>}
      {results
        .filter(([result]) => (counts[result] ?? 0) > 0)
        .map(([result, words, tone]) => (
          <Badge key={result} tone={tone}>
            {count(counts[result] ?? 0)} {words}
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

/** Too few to say how fast they are. */
const MIN_ENDED = 2;

/** `12 a second, about 4 min left`. */
function paceText({ total, countedAt, savedAt }: LettersTask, ended: number): string {
  const seconds = (savedAt - (countedAt ?? savedAt)) / 1_000;
  if (total === null || ended < MIN_ENDED || seconds <= 0) return '';
  const rate = ended / seconds;
  const pace =
    rate >= 1
      ? `${count(Math.round(rate))} a second`
      : `${count(Math.max(1, Math.round(rate * 60)))} a minute`;
  return `${pace}, about ${duration(((total - ended) / rate) * 1_000)} left`;
}
