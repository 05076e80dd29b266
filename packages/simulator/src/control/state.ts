import type { Change } from '../journal.ts';
import type { Simulation } from '../simulation.ts';
import type { ChangesView, StateView } from './view-types.ts';
import { clockView, countsView, deliverySummary } from './views.ts';

const RECENT = 200;

/** Everything that the inspector shows, with the latest of what there may be many of. */
export function stateView(simulation: Simulation): StateView {
  const { rules, calls, log, outbox, chaos, settings } = simulation;
  return {
    seed: settings.seed,
    url: simulation.baseUrl,
    policy: {
      maxAttempts: settings.maxAttempts,
      retryEvery: settings.retryEvery,
      acknowledgeWithin: settings.acknowledgeWithin,
      whilePaused: settings.whilePaused,
    },
    clock: clockView(simulation),
    counts: countsView(simulation),
    chaos: chaos.get(),
    rules: rules.list(),
    calls: calls.list().slice(-RECENT),
    deliveries: log.list().slice(-RECENT).map(deliverySummary),
    outbox: outbox.list().slice(-RECENT),
  };
}

/**
 * What changed, as the stream tells it: the records as they are now.
 * @param changes those of a short while; a record that changed often is told once
 */
export function changesView(simulation: Simulation, changes: readonly Change[]): ChangesView {
  const { rules, calls, log, outbox, chaos } = simulation;
  const ids = (kind: Change['kind']) =>
    new Set(changes.filter((change) => change.kind === kind).map(({ id }) => id));
  const of = <Row extends { _id: string }>(kind: Change['kind'], rows: () => Row[]) => {
    const wanted = ids(kind);
    return wanted.size === 0 ? [] : rows().filter(({ _id }) => wanted.has(_id));
  };
  const reset = changes.some(({ kind }) => kind === 'reset');
  // More than anybody can look at: whoever listens had better ask for the state as a whole.
  const resync = reset || ids('delivery').size > RECENT || ids('call').size > RECENT;
  return {
    resync,
    clock: clockView(simulation),
    counts: countsView(simulation),
    chaos: chaos.get(),
    rules: of('rule', () => rules.list()),
    calls: resync ? [] : of('call', () => calls.list()),
    deliveries: resync
      ? []
      : [...ids('delivery')]
          .map((id) => log.find(id ?? ''))
          .filter((delivery) => delivery !== undefined)
          .map(deliverySummary),
    outbox: of('mail', () => outbox.list()),
    rotated: [...ids('secret')].filter((id) => id !== undefined),
  };
}
