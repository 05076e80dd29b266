import type { OutcomeCode } from '@call-webhooks/core';
import { outcomeNamedIn } from '@call-webhooks/core/internal';
import type { Call } from '../calls/call.ts';
import type { ChaosSettings } from '../chaos.ts';
import type {
  Attempt,
  AttemptResponse,
  WebhookEvent,
  WebhookEventState,
} from '../events/webhook-event.ts';
import type { Settings } from '../options.ts';
import type { Mail } from '../outbox.ts';
import { omit, type Change } from '../records.ts';
import type { Rule } from '../rules/rule.ts';
import type { ActionSecret } from '../rules/secrets.ts';
import type { Simulation } from '../simulation.ts';
import { latest, receiverOf, search, type Query } from './search.ts';

/** An attempt without its request, and without the headers and the body of its response. */
export type AttemptSummary = Omit<Attempt, 'request' | 'response' | 'droppedResponse'> & {
  readonly response?:
    Exclude<AttemptResponse, { kind: 'status' }> | { kind: 'status'; status: number };
  /** The URL to which it was sent. */
  readonly url: string;
  /**
   * The outcome that the receiver named in its response, even if chaos dropped the response. It is
   * absent for servers that are not receivers of these packages.
   */
  readonly outcome?: string;
  /** Whether chaos dropped the response. */
  readonly dropped: boolean;
};

/** An event without bodies and headers. */
export type WebhookEventSummary = Omit<WebhookEvent, 'body' | 'attempts'> & {
  readonly attempts: readonly AttemptSummary[];
} & Names;

/** `GET /_sim/events/:id`: an event with all bodies and headers. */
export type WebhookEventView = Omit<WebhookEvent, 'attempts'> & {
  readonly attempts: readonly (Attempt & Pick<AttemptSummary, 'url' | 'outcome' | 'dropped'>)[];
} & Names;

interface Names {
  /**
   * The URL to which the last attempt was sent, or to which the first one will be sent. It is absent if
   * the action was removed before.
   */
  readonly url?: string;
  /** The name of the rule. It is absent if the rule was removed. */
  readonly ruleName?: string;
  /**
   * The name of the person who was called, or else the number. It is absent if the simulator does not
   * know the call.
   */
  readonly callName?: string;
}

/** `GET /_sim/outcomes`: what each outcome of a receiver means, and how to fix it. */
export type OutcomesView = Readonly<
  Record<string, { readonly status: number; readonly when: string; readonly fix: string }>
>;

/** `GET /_sim/clock`: the state of the simulator's clock. Times are milliseconds since the epoch. */
export interface ClockView {
  readonly mode: 'real' | 'manual';
  readonly now: number;
  /** The next due time, or `null` if nothing is due. */
  readonly nextDueAt: number | null;
  /** The number of requests that receivers are handling. */
  readonly inFlight: number;
}

/** The number of records of each kind that the simulator keeps. */
export interface CountsView {
  readonly calls: number;
  readonly events: Partial<Readonly<Record<WebhookEventState, number>>>;
  /** The number of emails. */
  readonly mails: number;
  readonly messages: number;
}

/** The options about retries and pauses. Durations are milliseconds. */
export type PolicyView = Readonly<
  Pick<Settings, 'maxAttempts' | 'retryEvery' | 'acknowledgeWithin' | 'whilePaused'>
>;

/** `GET /_sim/secrets`: the secrets by the ids of their actions; `null` for an unsigned action. */
export type SecretsView = Readonly<Record<string, ActionSecret | null>>;

/**
 * `GET /_sim/state`: the state of the simulator, with the latest calls and emails, and the latest
 * events that match the query. `limit` is the maximum number of each, by default 100.
 */
export interface StateView {
  /** The seed of this run. */
  readonly seed: string;
  readonly url: string;
  /** The options about retries and pauses. */
  readonly policy: PolicyView;
  /** The state of the clock. */
  readonly clock: ClockView;
  /** The number of records of each kind. */
  readonly counts: CountsView;
  readonly chaos: ChaosSettings;
  readonly rules: readonly Rule[];
  readonly calls: readonly Call[];
  readonly events: readonly WebhookEventSummary[];
  /** The number of events in each state that match the query apart from its `state`. */
  readonly matching: CountsView['events'];
  /** The latest emails, oldest first. */
  readonly outbox: readonly Mail[];
}

/**
 * A `changes` event of `GET /_sim/stream`: the rules and events that changed, in their current state.
 * The simulator sends one after any change.
 */
export interface ChangesView {
  /** `true` after a reset, or if too many events changed, which are then left out. Fetch the state. */
  readonly resync: boolean;
  readonly rules: readonly Rule[];
  readonly events: readonly WebhookEventSummary[];
}

/** The state, with the events that a query asks for. */
export function stateView(simulation: Simulation, query: Query): StateView {
  const { rules, calls, outbox, chaos, settings } = simulation;
  const { maxAttempts, retryEvery, acknowledgeWithin, whilePaused } = settings;
  const { found, counts } = search(simulation, query);
  return {
    seed: settings.seed,
    url: simulation.url,
    policy: { maxAttempts, retryEvery, acknowledgeWithin, whilePaused },
    clock: clockView(simulation),
    counts: countsView(simulation),
    chaos: chaos.get(),
    rules: rules.list(),
    calls: latest(calls.list(), query.limit),
    events: latest(found, query.limit).map(eventSummary(simulation)),
    matching: counts,
    outbox: latest(outbox.list(), query.limit),
  };
}

/** With more events than this, the listener should fetch the state. */
const MOST_CHANGES = 200;

/**
 * The rules and events that changed, in their current state.
 * @param changes may name a record several times; the view holds it once
 */
export function changesView(simulation: Simulation, changes: readonly Change[]): ChangesView {
  const ids = (kind: Change['kind']) =>
    [...new Set(changes.map((one) => (one.kind === kind ? one.id : undefined)))].filter(
      (id) => id !== undefined,
    );
  const events = ids('event');
  const reset = changes.some(({ kind }) => kind === 'reset');
  const resync = reset || events.length > MOST_CHANGES;
  return {
    resync,
    rules: ids('rule').flatMap((id) => simulation.rules.find(id) ?? []),
    events: (resync ? [] : events)
      .flatMap((id) => simulation.log.find(id) ?? [])
      .map(eventSummary(simulation)),
  };
}

/** The clock, as the HTTP API shows it. */
export const clockView = ({ clock, inFlight }: Simulation): ClockView => ({
  mode: clock.mode,
  now: clock.now(),
  nextDueAt: clock.nextDueAt() ?? null,
  inFlight: inFlight.size,
});

/** An event without bodies and headers. */
export const eventSummary =
  (simulation: Simulation) =>
  (event: WebhookEvent): WebhookEventSummary => ({
    ...omit(event, 'body', 'attempts'),
    attempts: event.attempts.map(attemptSummary),
    ...namesOf(event, simulation),
  });

/** An event with everything. */
export const eventView = (event: WebhookEvent, simulation: Simulation): WebhookEventView => ({
  ...event,
  attempts: event.attempts.map((attempt) => ({ ...attempt, ...resultOf(attempt) })),
  ...namesOf(event, simulation),
});

function namesOf(event: WebhookEvent, simulation: Simulation): Names {
  const rule = simulation.rules.find(event.ruleId);
  const url = receiverOf(event, simulation);
  const call = simulation.calls.find(event.callId);
  const callName = call?.calledName ?? call?.calledNumber;
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
  events: log.counts(),
  mails: outbox.list().length,
  messages: messages.list().length,
});

/** The outcome that a receiver of these packages names in its response, if it is one of theirs. */
const outcomeOf = (response: AttemptResponse | undefined): OutcomeCode | undefined =>
  response?.kind === 'status' ? outcomeNamedIn(response.status, response.body) : undefined;
