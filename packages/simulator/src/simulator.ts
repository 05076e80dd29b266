import { validateHeaderName, validateHeaderValue } from 'node:http';
import { generateSecret, sign } from '@call-webhooks/core';
import type { Messages } from './activity/messages.ts';
import type { Calls } from './calls/calls.ts';
import type { Chaos } from './chaos.ts';
import type { Clock } from './clock/clock.ts';
import type { WebhookEvent, WebhookEventState } from './events/webhook-event.ts';
import type { WebhookEventFilter } from './events/log.ts';
import { SimulatorError } from './errors.ts';
import { serve } from './http/server.ts';
import { settingsOf, type Settings, type SimulatorOptions } from './options.ts';
import type { Outbox } from './outbox.ts';
import type { Rules } from './rules/rules.ts';
import type { Secrets } from './rules/secrets.ts';
import { SeededRandom } from './seeded-random.ts';
import { Simulation } from './simulation.ts';

/**
 * The events that the simulator sent, or will send. Each entry is one event for one webhook action,
 * with all its attempts.
 */
export interface WebhookEvents {
  /** Returns the events that match a filter, in the order of creation; without a filter, all events. */
  list(filter?: WebhookEventFilter): WebhookEvent[];
  /**
   * Returns one event.
   * @throws SimulatorError `not-found`
   */
  get(id: string): WebhookEvent;
  /** Returns the number of events in each state. States without events are absent. */
  counts(): Partial<Record<WebhookEventState, number>>;
  /**
   * Sends an event again, as a copy with its own id, even while its rule is paused.
   * @returns the copy, whose `copyOf` names the original
   * @throws SimulatorError `not-found` if there is no such event, or if its action was removed
   */
  resend(id: string): WebhookEvent;
  /** Resolves when no attempt is in flight. Retries may still be due. */
  settled(): Promise<void>;
}

/** A running simulator: a local copy of the service. */
export interface Simulator {
  /**
   * The URL of the simulator. It opens the inspector. The REST API is at `/v1`, the control API at
   * `/_sim`.
   */
  readonly url: string;
  /** The token that requests to the REST API must send as `X-API-Token`. */
  readonly apiToken: string;
  /** The seed of this run. Pass it as the option `seed` to repeat the run. */
  readonly seed: string;
  /** The rules and the recording webhook, with their webhook actions. */
  readonly rules: Rules;
  /** The calls of the simulated dialer. Placing a call causes its events. */
  readonly calls: Calls;
  /** The messages and their activities, which `GET /v1/events` returns. */
  readonly messages: Messages;
  /** The events that were sent, or will be sent, with their attempts. */
  readonly events: WebhookEvents;
  /** The emails that the service would have sent about paused rules. */
  readonly outbox: Outbox;
  /** The simulator's clock, which you can advance. */
  readonly clock: Clock;
  /** The faults that the simulator injects, and how likely each is. */
  readonly chaos: Chaos;
  /** The signing secrets of all webhook actions. */
  readonly secrets: Secrets;
  /**
   * Removes all rules, secrets, calls, events, emails and messages, ends all attempts, and returns the
   * clock and chaos to their start. Later records get new ids. `apiToken` stays the same.
   */
  reset(): void;
  /** Ends all attempts and stops listening. */
  close(): Promise<void>;
  /** Settles when the simulator has been closed, by `close` or through the control API. */
  readonly closed: Promise<void>;
}

/**
 * Starts a local copy of the service: rules, calls, signed deliveries with retries and pauses, the REST
 * API, the control API and the inspector. It listens on this machine only.
 * @throws SimulatorError `invalid-input` for an invalid option
 * @throws Error from `listen`, for example with the code `EADDRINUSE`
 * @example
 * const simulator = await startSimulator({ clock: 'manual', seed: 1 });
 * simulator.rules.forwardTo('http://127.0.0.1:3000/hook');
 * simulator.calls.place({ durationSeconds: 20 });
 * await simulator.clock.runUntilIdle();
 * await simulator.close();
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = settingsOf(options);
  await checkHeaders(settings);
  const simulation = new Simulation(settings);
  // A reset keeps the token, so that clients can go on.
  const apiToken = settings.apiToken ?? new SeededRandom(settings.seed).id('api-token');
  const closing = once(async () => {
    simulation.close();
    await server.close();
  });
  const server = await serve(simulation, { apiToken, close: closing.run });
  simulation.url = server.url;
  const { rules, calls, messages, outbox, clock, chaos, secrets } = simulation;
  return {
    url: server.url,
    apiToken,
    seed: settings.seed,
    rules,
    calls,
    messages,
    events: eventsOf(simulation),
    outbox,
    clock,
    chaos,
    secrets,
    reset() {
      simulation.reset();
    },
    close: closing.run,
    closed: closing.done,
  };
}

function eventsOf({ log, dispatcher, inFlight }: Simulation): WebhookEvents {
  return {
    list: (filter) => log.list(filter),
    get: (id) => log.get(id),
    counts: () => log.counts(),
    resend: (id) => dispatcher.resend(id),
    settled: () => inFlight.waitForAll(),
  };
}

/**
 * Checks the headers at the start rather than with the first delivery.
 * @throws SimulatorError `invalid-input` when `headerPrefix` or `extraHeaders` is invalid
 */
async function checkHeaders({ headerPrefix, extraHeaders }: Settings): Promise<void> {
  try {
    await sign({ secret: generateSecret(), body: '', headerPrefix });
    for (const [name, value] of Object.entries(extraHeaders)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch (cause) {
    const { message } = cause as Error;
    throw new SimulatorError('invalid-input', `Invalid headerPrefix or extraHeaders: ${message}`, {
      cause,
    });
  }
}

/** @returns `run`, which runs the task once, and `done`, which settles with it */
function once(task: () => Promise<void>): { run: () => Promise<void>; done: Promise<void> } {
  let settle: (running: Promise<void>) => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  // `run` reports an error to its caller; nobody may listen to `done`.
  done.catch(() => undefined);
  let running: Promise<void> | undefined;
  return {
    run() {
      if (!running) settle((running = task()));
      return running;
    },
    done,
  };
}
