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
import { Section } from '../parts/section.tsx';

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
    title: 'Erase the dead letters of this person?',
    go: 'Erase',
    danger: true,
    content: (
      <>
        <p>
          The search has found {counted(found, 'letter')} so far. All dead letters
          {isFiltered && ' that match the filters'} are searched again, and those of this person are
          erased, with the outcomes of their calls. Their events are never run. This cannot be
          undone.
        </p>
        {canForget && (
          <>
            <Switch label="Also forget the keys of these events" name="forgetKeys" />
            <p class="hint">If one of them is delivered again, its handler runs again.</p>
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
  redrive: 'What was not run yet still waits: redrive it again.',
  removal: 'What was not removed yet is still there.',
  erasure: 'What was not erased yet is still there: search for the person, and erase it again.',
};

/** How far the tasks are, and what became of their letters. */
export function LettersTasks() {
  const { tasks } = useTasks();
  const startOf = (name: LettersTaskName) => tasks?.[name]?.startedAt ?? 0;
  const names: readonly LettersTaskName[] = ['redrive', 'removal', 'erasure'];
  // The one that began last comes first.
  const sorted = names.toSorted((one, other) => startOf(other) - startOf(one));
  return <>{tasks && sorted.map((name) => <TaskSection key={name} name={name} tasks={tasks} />)}</>;
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
      {'cause' in task && <p class="error-line">Of the cause “{task.cause}”</p>}
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
      <p class="form-error">Its process died, or could not reach the store. {rest}</p>
    )}
    {!shared && (
      <p class="hint">
        The store of this receiver has no cursors, so only the process that answered is shown here.
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
        <span>{counted(checked, 'letter')} searched</span>
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
    <span class="hint">
      A store failed {counted(retries, 'time')}; each time it was asked again.
    </span>
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
      ? `${count(Math.round(rate))} a second`
      : `${count(Math.max(1, Math.round(rate * 60)))} a minute`;
  return `${pace}, about ${duration(((total - ended) / rate) * 1_000)} left`;
}
