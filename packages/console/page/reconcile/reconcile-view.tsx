import { useState } from 'preact/hooks';
import { ActionButton, counted, openForm, Select } from '@call-webhooks/ui';
import type { ReconcileTask } from '../../src/api-types.ts';
import { useSession, useTasks } from '../model/session.ts';
import { TaskTrouble } from '../dead-letters/letters-tasks.tsx';
import { revealById } from '../parts/reveal.ts';
import { Empty, ErrorBox, Loading, Section } from '../parts/section.tsx';
import { Run, windowText } from './run.tsx';

const HEADING = 'reconcile-heading';
const HOUR = 3_600_000;
/** Hours. A store remembers 24 by default, and the run for real comes a little later. */
const WINDOWS = [1, 3, 6, 12, 23] as const;

/** Asks the service for its calls, finds the events that never arrived, and runs them. */
export function ReconcileView() {
  const { reconcile } = useSession();
  return (
    <>
      <div class="view-head">
        <h2>Reconcile</h2>
        <p>
          While a rule is paused, or no request reaches the receiver, events are lost. A reconcile
          run asks the service for its calls and finds each <code>call:completed</code> that never
          arrived. It looks for other events only if the <code>recordings</code> or{' '}
          <code>toEvents</code> option of <code>reconcile</code> adds them.
        </p>
      </div>
      {reconcile ? <Reconcile /> : <NotConfigured />}
    </>
  );
}

const NotConfigured = () => (
  <Empty title="Reconciling is not configured">
    <p>
      To find missed events, the console has to ask the service for its calls. Pass{' '}
      <code>{'reconcile: { client }'}</code> to <code>createConsole</code>, with a client from{' '}
      <code>@call-webhooks/client</code>.
    </p>
  </Empty>
);

function Reconcile() {
  const { tasks, error, stop } = useTasks();
  const { canWrite } = useSession();
  const task = tasks?.reconcile;
  const isRunning = task?.state === 'running';
  if (!tasks) return error === undefined ? <Loading /> : <ErrorBox error={error} />;
  return (
    <>
      <ErrorBox error={error} />
      {canWrite && <Start isRunning={isRunning} />}
      {task ? (
        <Section
          title={isRunning ? 'Reconcile run in progress' : 'Last reconcile run'}
          id={HEADING}
        >
          {/* Above its events, which may be many. */}
          <Run run={task}>{canWrite && <ForReal task={task} />}</Run>
          <TaskTrouble
            task={task}
            tasks={tasks}
            rest="Start it again. Events that have been handled will not run twice."
          />
          {isRunning && canWrite && (
            <div class="buttons">
              <ActionButton label="Stop" small run={() => stop('reconcile')} />
            </div>
          )}
        </Section>
      ) : (
        <NeverRan />
      )}
    </>
  );
}

function NeverRan() {
  const { canWrite } = useSession();
  return (
    <Empty title="No run yet">
      <p>
        {canWrite
          ? 'Start with a dry run. It shows which events were missed, and runs none of them.'
          : 'Runs that other people start will appear here.'}{' '}
        With <code>startReconciler</code>, the receiver reconciles by itself.
      </p>
    </Empty>
  );
}

/** Always dry first. */
function Start({ isRunning }: { readonly isRunning: boolean }) {
  const { reconcile } = useTasks();
  const { reconcileTenant } = useSession();
  const [hours, setHours] = useState('6');
  return (
    <Section
      title={
        reconcileTenant === null ? 'Missed events' : `Missed events of tenant ${reconcileTenant}`
      }
    >
      <div class="buttons run-now">
        <Select
          label="Calls that began in the last"
          value={hours}
          options={WINDOWS.map((one) => [
            String(one),
            one === 1 ? 'Calls of the last hour' : `Calls of the last ${String(one)} hours`,
          ])}
          onChange={setHours}
        />
        <ActionButton
          label="Dry run"
          kind="primary"
          disabled={isRunning}
          run={async () => {
            await reconcile({ dryRun: true, since: Date.now() - Number(hours) * HOUR });
            revealById(HEADING);
          }}
        />
      </div>
      <p class="hint">
        A dry run changes nothing. It leaves out the last 10 minutes, because webhooks of these
        calls may still arrive. It also leaves out times from which the store remembers no events: a
        store in memory remembers nothing from before its process started.
      </p>
    </Section>
  );
}

/** After a dry run that found something, it can be run for real. */
function ForReal({ task }: { readonly task: ReconcileTask }) {
  const { reconcile } = useTasks();
  const { dryRun, state, counts, since, until } = task;
  const events = counts.missed + counts.failed;
  if (!dryRun || state !== 'done' || events === 0) return null;
  const ask = () => {
    openForm({
      title: `Run ${counted(events, 'event')}?`,
      go: 'Run',
      content: (
        <p>
          {windowText(task)}
          {task.tenant !== undefined && ` of tenant ${task.tenant}`}. Every missed event, and every
          event that has failed so far, will run as if it had just arrived. Events that have been
          handled will not run again.
        </p>
      ),
      async run() {
        await reconcile({ dryRun: false, since, until });
        revealById(HEADING);
      },
    });
  };
  return (
    <div class="buttons">
      <ActionButton label={`Run ${counted(events, 'event')} …`} kind="primary" run={ask} />
    </div>
  );
}
