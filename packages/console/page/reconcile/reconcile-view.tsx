import { useEffect, useState } from 'preact/hooks';
import { ActionButton, openForm, Select, usePoll } from '@call-webhooks/ui';
import type { ReconcileRequest, ReconcileRun, ReconcileState } from '../../src/api-types.ts';
import { get, post } from '../model/api.ts';
import { counted } from '../model/format.ts';
import { useLost, useStarted } from '../model/use-started.ts';
import { useSession } from '../model/session.ts';
import { Empty, ErrorBox, Loading, Section } from '../parts/section.tsx';
import { Run } from './run.tsx';
import { windowText } from './words.tsx';

const HOUR = 3_600_000;
/** Hours. A store remembers 24 by default, and the run for real comes a little later. */
const WINDOWS = [1, 3, 6, 12, 23] as const;

/** Asks the service for its calls, and runs the events that never came. */
export function ReconcileView() {
  const { reconcile } = useSession();
  return (
    <>
      <div class="view-head">
        <h2>Reconcile</h2>
        <p>
          While a rule is paused or nothing reaches the receiver, events are lost. A reconcile asks
          the service for its calls, and runs the events that never came.
        </p>
      </div>
      {reconcile ? <Reconcile /> : <NotConfigured />}
    </>
  );
}

const NotConfigured = () => (
  <Empty title="This console has no client to reconcile with">
    <p>
      Pass a client of <code>@call-webhooks/client</code> to <code>createConsole</code> as{' '}
      <code>reconcile</code>, so that it can ask the service for its calls.
    </p>
  </Empty>
);

function Reconcile() {
  const [isRunning, setRunning] = useState(false);
  const { value, error, refresh } = usePoll('reconcile', isRunning ? 500 : 5_000, (signal) =>
    get<ReconcileState>('api/reconcile', {}, signal),
  );
  const { canWrite } = useSession();
  const [state, setStarted] = useStarted(value);
  const running = state?.running != null;
  const task = state?.running ?? state?.runs[0];
  const isLost = useLost(task, running, value !== undefined);
  useEffect(() => {
    setRunning(running);
  }, [running]);
  const start = async (request: ReconcileRequest) => {
    setStarted(await post<ReconcileState>('api/reconcile', request));
    refresh();
  };
  const abort = async () => {
    setStarted(await post<ReconcileState>('api/reconcile/abort'));
    refresh();
  };
  if (!state) return error === undefined ? <Loading /> : <ErrorBox error={error} />;
  const [last, ...earlier] = state.runs.filter(({ endedAt }) => endedAt !== null);
  return (
    <>
      <ErrorBox error={error} />
      {isLost && (
        <p class="read-only" role="status">
          The process that ran the reconcile was restarted, or another one answers now. Run it
          again: what was handled is not run twice.
        </p>
      )}
      {canWrite && <Start isRunning={running} start={start} />}
      {state.running && (
        <Section
          title={state.running.dryRun ? 'A dry run is under way' : 'A reconcile is under way'}
        >
          <Run key={state.running.id} run={state.running} />
          {canWrite && (
            <div class="buttons">
              <ActionButton label="Stop" small run={abort} />
            </div>
          )}
        </Section>
      )}
      {last ? <Last run={last} isRunning={running} start={start} /> : !running && <NeverRan />}
      {earlier.length > 0 && (
        <Section title="Earlier runs">
          <ul class="runs">
            {earlier.map((run) => (
              <li key={run.id}>
                <Run run={run} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function NeverRan() {
  const { canWrite } = useSession();
  return (
    <Empty title="No run yet since this process started">
      <p>
        {canWrite
          ? 'Begin with a dry run: it only asks the service which events should have come.'
          : 'Runs that others start appear here.'}{' '}
        With <code>startReconciler</code>, the receiver reconciles by itself.
      </p>
    </Empty>
  );
}

interface StartProps {
  readonly isRunning: boolean;
  readonly start: (request: ReconcileRequest) => Promise<void>;
}

/** Always dry first. */
function Start({ isRunning, start }: StartProps) {
  const [hours, setHours] = useState('6');
  return (
    <Section title="Run now">
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
          run={() => start({ dryRun: true, since: Date.now() - Number(hours) * HOUR })}
        />
      </div>
      <p class="hint">
        A dry run changes nothing. What happened in the last 10 minutes is left alone, since its
        webhook may still come. A window is shortened to what the store knows: one in memory knows
        nothing from before its process started.
      </p>
    </Section>
  );
}

interface LastProps extends StartProps {
  readonly run: ReconcileRun;
}

/** The last run. After a dry run, it can be run for real. */
function Last({ run, isRunning, start }: LastProps) {
  const { canWrite } = useSession();
  const ask = () => {
    openForm({
      title: 'Run what was missed?',
      go: 'Reconcile',
      content: (
        <p>
          {windowText(run)}: of {counted(run.counts.expected, 'event')}, those that the store does
          not know run now, as if they had just come. The others are left alone.
        </p>
      ),
      run: () => start({ dryRun: false, since: run.since, until: run.until }),
    });
  };
  const isReady = canWrite && run.dryRun && run.state === 'done' && run.counts.expected > 0;
  return (
    <Section title="Last run">
      <Run key={run.id} run={run} />
      {isReady && (
        <div class="buttons">
          <ActionButton label="Reconcile for real …" disabled={isRunning} run={ask} />
        </div>
      )}
    </Section>
  );
}
