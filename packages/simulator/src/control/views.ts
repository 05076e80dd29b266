import type { Call } from '../calls/call.ts';
import type { Change } from '../change-emitter.ts';
import type { Attempt, Delivery } from '../deliveries/delivery.ts';
import { omit } from '../omit.ts';
import type { Simulation } from '../simulation.ts';
import { outcomeOf } from './outcome-of.ts';
import type {
  AttemptSummary,
  ChangesView,
  ClockView,
  CountsView,
  DeliverySummary,
  DeliveryView,
  StateView,
} from './view-types.ts';

/** How many calls, deliveries and emails a view holds. */
const RECENT = 200;

/** The state, with the latest calls, deliveries and emails. */
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
    deliveries: log.list().slice(-RECENT).map(deliverySummary(simulation)),
    outbox: outbox.list().slice(-RECENT),
  };
}

/**
 * The records that changed, in their current state.
 * @param changes may name a record several times; the view holds it once
 */
export function changesView(simulation: Simulation, changes: readonly Change[]): ChangesView {
  const { rules, calls, log, outbox, chaos } = simulation;
  const ids = (kind: Change['kind']) =>
    new Set(changes.filter((change) => change.kind === kind).map(({ id }) => id));
  const of = <Row extends { _id: string }>(kind: Change['kind'], rows: () => Row[]) => {
    const wanted = ids(kind);
    return wanted.size === 0 ? [] : rows().filter(({ _id }) => wanted.has(_id));
  };
  const known = (kind: Change['kind']) => [...ids(kind)].filter((id) => id !== undefined);
  const reset = changes.some(({ kind }) => kind === 'reset');
  // With more changes than a view holds, the listener should fetch the state.
  const resync = reset || ids('delivery').size > RECENT || ids('call').size > RECENT;
  return {
    resync,
    clock: clockView(simulation),
    counts: countsView(simulation),
    chaos: chaos.get(),
    rules: of('rule', () => rules.list()),
    removedRules: known('rule').filter((id) => !rules.find(id)),
    calls: resync ? [] : of('call', () => calls.list()),
    deliveries: resync
      ? []
      : [...ids('delivery')]
          .map((id) => log.find(id ?? ''))
          .filter((delivery) => delivery !== undefined)
          .map(deliverySummary(simulation)),
    outbox: of('mail', () => outbox.list()),
    rotated: known('secret'),
  };
}

/** The clock, as the HTTP API shows it. */
export const clockView = ({ clock, inFlight }: Simulation): ClockView => ({
  mode: clock.mode,
  now: clock.now(),
  nextDueAt: clock.nextDueAt() ?? null,
  inFlight: inFlight.size,
});

type Names = Pick<Simulation, 'rules' | 'calls'>;

/** A delivery without bodies and headers. @param names name its rule, its receiver and its call */
export const deliverySummary =
  (names: Names) =>
  (delivery: Delivery): DeliverySummary => ({
    ...omit(delivery, 'body', 'attempts'),
    attempts: delivery.attempts.map(attemptSummary),
    ...namesOf(delivery, names),
  });

/** A delivery with everything. */
export const deliveryView = (delivery: Delivery, names: Names): DeliveryView => ({
  ...delivery,
  attempts: delivery.attempts.map((attempt) => ({ ...attempt, ...resultOf(attempt) })),
  ...namesOf(delivery, names),
});

/** Where the last attempt went, or the first will go. */
export function receiverOf(
  { ruleId, actionId, attempts }: Delivery,
  rules: Names['rules'],
): string | undefined {
  const actions = rules.find(ruleId)?.actions;
  return attempts.at(-1)?.request.url ?? actions?.find(({ _id }) => _id === actionId)?.url;
}

/** Who was called: the name, or else the number. */
export const callNameOf = (call: Call | undefined): string | undefined =>
  call?.calledName ?? call?.calledNumber;

function namesOf(delivery: Delivery, { rules, calls }: Names) {
  const rule = rules.find(delivery.ruleId);
  const url = receiverOf(delivery, rules);
  const callName = callNameOf(calls.find(delivery.callId));
  return {
    ...(url !== undefined && { url }),
    ...(rule && { ruleName: rule.name }),
    ...(callName !== undefined && { callName }),
  };
}

function attemptSummary(attempt: Attempt): AttemptSummary {
  const { response } = attempt;
  const short =
    response?.kind === 'status' ? { kind: response.kind, status: response.status } : response;
  return {
    ...omit(attempt, 'request', 'response', 'droppedResponse'),
    ...(short && { response: short }),
    ...resultOf(attempt),
  };
}

function resultOf({ request, response, droppedResponse }: Attempt) {
  const outcome = outcomeOf(droppedResponse ?? response);
  return {
    url: request.url,
    ...(outcome && { outcome }),
    dropped: droppedResponse !== undefined,
  };
}

/** How many records of each kind exist. */
export const countsView = ({ calls, log, outbox, messages }: Simulation): CountsView => ({
  calls: calls.list().length,
  deliveries: log.counts(),
  mails: outbox.list().length,
  messages: messages.list().length,
});
