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

/** The events, sent or waiting. */
export interface WebhookEvents {
  /** The events that match, in the order of creation; all without a filter. */
  list(filter?: WebhookEventFilter): WebhookEvent[];
  /** @throws SimulatorError `not-found` */
  get(id: string): WebhookEvent;
  /** The number of events in each state. */
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

/** A running simulator. */
export interface Simulator {
  /** The URL of the inspector; the REST API is below `/v1`, the control API below `/_sim`. */
  readonly url: string;
  /** The `X-API-Token` of the REST API. */
  readonly apiToken: string;
  /** Pass it as `seed` to repeat this run. */
  readonly seed: string;
  readonly rules: Rules;
  readonly calls: Calls;
  /** Messages and their activities: the content of `GET /v1/events`. */
  readonly messages: Messages;
  readonly events: WebhookEvents;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly chaos: Chaos;
  readonly secrets: Secrets;
  /** Removes all rules, calls, events, emails and messages. Later records get new ids. */
  reset(): void;
  /** Ends all attempts and stops listening. */
  close(): Promise<void>;
  /** Settles when the simulator is closed, by `close` or by the control API. */
  readonly closed: Promise<void>;
}

/**
 * Starts the service on this machine: rules, calls, signed deliveries with retries and pauses, the
 * REST API, and the control API.
 * @throws SimulatorError `invalid-input` for a wrong option
 * @throws Error from `listen`, with code `EADDRINUSE` for example
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
