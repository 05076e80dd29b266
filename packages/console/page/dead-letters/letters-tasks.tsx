import { ActionButton, Badge, count, counted, duration, openForm, Switch } from '@call-webhooks/ui';
import type {
  ErasureRequest,
  ErasureTask,
  LettersRequest,
  LettersTask,
  Tasks,
} from '../../src/api-types.ts';
import { useSession, useTasks, type TaskControl } from '../model/session.ts';
import { sentence, TASK_STATES, TASKS } from '../model/words.ts';
import { Ago } from '../parts/cells.tsx';
import { revealById } from '../parts/reveal.ts';
import { ErrorBox, Section } from '../parts/section.tsx';

/** What runs through many dead letters. */
type LettersTaskName = 'redrive' | 'removal' | 'erasure';

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
          {total === 1
            ? 'It will run again. If it succeeds, it will be removed from this list. If it fails, it will stay here with its new error.'
            : 'They will run again, a few at a time. Those that succeed will be removed from this list. Those that fail will stay here with their new errors.'}
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
            ? 'This permanently removes the dead letter. Its event'
            : 'This permanently removes the dead letters. Their events'}{' '}
          will never run. This cannot be undone.
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

interface ErasureQuestion {
  /** How many letters the search has found so far. */
  readonly found: number;
  readonly isFiltered: boolean;
  readonly canForget: boolean;
  readonly request: ErasureRequest;
  readonly control: TaskControl;
  readonly onStarted: () => void;
}

/** Asks before all that a search finds is erased, and then shows how far that is. */
export function askToErase(question: ErasureQuestion): void {
  const { found, isFiltered, canForget, request, control, onStarted } = question;
  openForm({
    title: 'Erase this person’s data?',
    go: 'Erase',
    danger: true,
    content: (
      <>
        <p>
          The search has found {counted(found, 'dead letter')} so far. The server will search all
          dead letters{isFiltered && ' that match the filters'} again, and permanently erase every
          match together with the outcomes of its call. The erased events will never run. This
          cannot be undone.
        </p>
        {canForget && (
          <>
            <Switch label="Also forget the keys of these events" name="forgetKeys" />
            <p class="hint">
              If one of these events is delivered again, its handler will run again.
            </p>
          </>
        )}
      </>
    ),
    async run(form) {
      await control.erase({ ...request, forgetKeys: new FormData(form).has('forgetKeys') });
      onStarted();
      revealById(headingOf('erasure'));
    },
  });
}

/** Whether letters are being run, removed or erased, in whichever process. */
export const areBusy = (tasks: Tasks | undefined): boolean =>
  [tasks?.redrive, tasks?.removal, tasks?.erasure].some((task) => task?.state === 'running');

/** What to do about what a task has left. */
const RESTS: Readonly<Record<LettersTaskName, string>> = {
  redrive: 'Dead letters that have not run are still here. Redrive them again.',
  removal: 'Dead letters that have not been removed are still here. Remove them again.',
  erasure:
    'Anything that has not been erased is still stored. Search for the person again, and erase the rest.',
};

/** How far the tasks are, and what became of their letters. */
export function LettersTasks() {
  const { tasks, error } = useTasks();
  const startOf = (name: LettersTaskName) => tasks?.[name]?.startedAt ?? 0;
  const names: readonly LettersTaskName[] = ['redrive', 'removal', 'erasure'];
  // The one that began last comes first.
  const sorted = names.toSorted((one, other) => startOf(other) - startOf(one));
  return (
    <>
      <ErrorBox error={error} />
      {tasks && sorted.map((name) => <TaskSection key={name} name={name} tasks={tasks} />)}
    </>
  );
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
      {'cause' in task && <p class="error-line">Cause: “{task.cause}”</p>}
      {'checked' in task ? <ErasureProgress task={task} /> : <Progress name={name} task={task} />}
      <TaskTrouble task={task} tasks={tasks} rest={RESTS[name]} />
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
      <p class="form-error">
        The process that was doing the work has died or has lost its connection to the store. {rest}
      </p>
    )}
    {!shared && (
      <p class="hint">
        This receiver's store has no cursors, so processes cannot share their progress. This page
        shows only what the process that responded is doing.
      </p>
    )}
  </>
);

/** It cannot know how many it will find. */
const ErasureProgress = ({ task: { state, checked, counts, retries } }: { task: ErasureTask }) => (
  <div class="progress" role="status">
    {state === 'running' && (
      <>
        <progress aria-label="Erasing" />
        <span>{counted(checked, 'dead letter')} searched</span>
      </>
    )}
    {state === 'done' && Object.values({ ...counts }).every((one) => one === 0) && (
      <span>Nothing was found.</span>
    )}
    <Results name="erasure" counts={counts} />
    <Retries retries={retries} />
  </div>
);

interface ResultsProps {
  readonly name: LettersTaskName;
  readonly counts: object;
}

function Results({ name, counts }: ResultsProps) {
  const known = counts as Readonly<Record<string, number>>;
  const [, results] = TASKS[name];
  return (
    <>
      {results
        .filter(([result]) => (known[result] ?? 0) > 0)
        .map(([result, words, tone]) => (
          <Badge key={result} tone={tone}>
            {count(known[result] ?? 0)} {words}
          </Badge>
        ))}
    </>
  );
}

const Retries = ({ retries }: Pick<LettersTask, 'retries'>) =>
  retries > 0 ? (
    <span class="hint">{counted(retries, 'store call')} failed and had to be retried.</span>
  ) : null;

interface ProgressProps {
  readonly name: LettersTaskName;
  readonly task: LettersTask & { readonly counts: object };
}

function Progress({ name, task }: ProgressProps) {
  const { total, state, retries } = task;
  const counts = task.counts as Readonly<Record<string, number>>;
  const [, results] = TASKS[name];
  const ended = results.reduce((sum, [result]) => sum + (counts[result] ?? 0), 0);
  const uncounted = state === 'running' ? 'Counting …' : 'It ended before they were counted.';
  const text = total === null ? uncounted : `${count(ended)} of ${count(total)}`;
  return (
    <div class="progress" role="status">
      {state === 'running' && (
        <progress
          aria-label={
            name === 'redrive' ? 'Dead letters that were run' : 'Dead letters that were removed'
          }
          {...(total !== null && { value: ended, max: Math.max(1, total) })}
        />
      )}
      <span>{text}</span>
      {state === 'running' && <span class="hint">{paceText(task, ended)}</span>}
      <Results name={name} counts={counts} />
      <Retries retries={retries} />
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
      ? `${count(Math.round(rate))} per second`
      : `${count(Math.max(1, Math.round(rate * 60)))} per minute`;
  return `${pace}, about ${duration(((total - ended) / rate) * 1_000)} left`;
}
