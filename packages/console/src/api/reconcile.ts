import type { ReconcileState } from '../api-types.ts';
import { RequestError } from '../http/answer.ts';
import { END_OF_TIME, invalid } from '../http/query.ts';
import type { ReconcileRuns } from '../recovery/reconcile-runs.ts';
import { optional, required, waitFor } from './body.ts';
import type { RouteContext } from './context.ts';

function runsOf({ reconciles }: RouteContext): ReconcileRuns {
  if (reconciles) return reconciles;
  throw new RequestError(
    'not-configured',
    'Pass reconcile: { client } to createConsole to ask the service for its calls.',
  );
}

export function reconcileState({ reconciles }: RouteContext): ReconcileState {
  return reconciles?.state ?? { running: null, runs: [] };
}

export async function reconcile(context: RouteContext): Promise<ReconcileState> {
  const { body, operator, log } = context;
  const runs = runsOf(context);
  const dryRun = required(body['dryRun'], 'boolean', 'dryRun');
  const since = timeIn(required(body['since'], 'number', 'since'), 'since');
  const given = optional(body['until'], 'number', 'until');
  const until = given === undefined ? {} : { until: timeIn(given, 'until') };
  const wait = waitFor(body);
  runs.start({ dryRun, since, ...until }, operator.name);
  log({ action: 'reconcile', by: operator.name, dryRun });
  await wait(runs.done);
  return runs.state;
}

export function abortReconcile(context: RouteContext): ReconcileState {
  const runs = runsOf(context);
  const isRunning = runs.state.running !== null;
  runs.abort();
  if (isRunning) context.log({ action: 'abort-reconcile', by: context.operator.name });
  return runs.state;
}

function timeIn(time: number, name: string): number {
  if (Number.isInteger(time) && time >= 0 && time <= END_OF_TIME) return time;
  throw invalid(`${name}: expected milliseconds since the epoch`);
}
