import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import { signDelivery, type Delivery, type SigningOptions } from './delivery.ts';
import { readEffects } from './effects.ts';
import { exchange, type Answer, type ExchangeOptions, type Step } from './exchange.ts';
import { isAcknowledged } from './findings.ts';
import { requestBytes, type RequestChanges } from './request-bytes.ts';
import {
  testEvent,
  type CallFieldNames,
  type TestEvent,
  type TestEventOptions,
} from './test-events.ts';

export interface TestedReceiverOptions {
  readonly url: string;
  /** Without one, only unsigned requests can be sent. */
  readonly secret: string | undefined;
  readonly secondSecret?: string | undefined;
  /** Of the header names; `X-Service` by default. */
  readonly headerPrefix?: string | undefined;
  /** Whether to send events that handlers handle. */
  readonly runHandlers: boolean;
  /** Where the real field names differ from our guesses. */
  readonly fieldNames?: Partial<CallFieldNames> | undefined;
  /** Where the receiver reports its effects. */
  readonly effectsUrl?: string | undefined;
  /** How long to wait for each response; milliseconds. */
  readonly timeoutMs: number;
  /** How long an event is sent again until it is acknowledged; milliseconds. */
  readonly retryForMs: number;
  /** Restarts the receiver. Resolves when the old process has gone. */
  readonly restart?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** How long the receiver may take to be back, and to run what it was running; milliseconds. */
  readonly restartWithinMs?: number | undefined;
  /** How long effects may take after an acknowledgement; milliseconds. */
  readonly effectsWithinMs: number;
  /** How long the service waits for a response; milliseconds. */
  readonly acknowledgeWithinMs: number;
  readonly signal: AbortSignal;
}

/** More than all probes need. */
const MAX_REQUESTS = 400;
/** Between retries: the pause doubles from the first to the last value. */
const RETRY_AFTER_MS = { first: 200, most: 2_000 };

/** How long to look for another effect, where handlers run before the answer. */
const SETTLED_AFTER_MS = 400;

/** Too many requests were sent, so the rest is not judged. */
export class RequestLimit extends Error {
  constructor() {
    super(`more than ${String(MAX_REQUESTS)} requests (use --only)`);
  }
}

/** The receiver that is graded, and all that probes may do to it. */
export class TestedReceiver {
  readonly url: URL;
  readonly options: TestedReceiverOptions;
  readonly names: CallFieldNames;
  /** Events of deliveries that have to be refused: none may have an effect. */
  readonly refusedEvents: TestEvent[] = [];
  /** How often each status was the response to a POST to the URL of the receiver. */
  readonly statuses = new Map<number, number>();
  /** How many responses there were, to any request. */
  responses = 0;
  /** How far the receiver's clock is ahead of ours; seconds. */
  clockAhead = 0;
  readonly #run = randomBytes(4).toString('hex');
  #events = 0;
  #requests = 0;

  constructor(options: TestedReceiverOptions) {
    this.options = options;
    this.names = { ...DEFAULT_FIELD_NAMES, ...options.fieldNames };
    this.url = new URL(options.url);
    // One for each connection that is open.
    setMaxListeners(0, options.signal);
  }

  /** How many requests were sent. */
  get requests(): number {
    return this.#requests;
  }

  /** Unix seconds by the receiver's clock. */
  now(): number {
    return Math.floor(Date.now() / 1_000) + this.clockAhead;
  }

  /** A new event: one that nobody handles, unless handlers may run. */
  event(options: TestEventOptions = {}): TestEvent {
    const id = `check.${this.#run}.${String(++this.#events)}`;
    const name = options.name ?? (this.options.runHandlers ? 'call:completed' : undefined);
    return testEvent(id, { ...options, name }, this.names);
  }

  /** A new event of a delivery that has to be refused. */
  refusedEvent(): TestEvent {
    const event = this.event();
    this.refusedEvents.push(event);
    return event;
  }

  /** Signs a body as the service does, except for the options. */
  sign(body: Uint8Array | string, options: Partial<SigningOptions> = {}): Delivery {
    const { secret = '', headerPrefix: prefix = 'X-Service' } = this.options;
    return signDelivery(body, { secret, prefix, ...options });
  }

  /** As {@link sign}, with the second secret. */
  signAgain(body: Uint8Array, options: Partial<SigningOptions> = {}): Delivery {
    return this.sign(body, { ...options, secret: this.options.secondSecret ?? '' });
  }

  /** Sends one request. */
  send(delivery: Delivery, changes: RequestChanges = {}): Promise<Answer> {
    const elsewhere = changes.method !== undefined || changes.path !== undefined;
    return this.exchange([requestBytes(this.url, delivery, changes)], { elsewhere });
  }

  /** Signs and sends an event with a new webhook id. */
  deliver(event: TestEvent, changes?: RequestChanges): Promise<Answer> {
    return this.send(this.sign(event.body), changes);
  }

  /** Retries as the service does, only sooner, until it is acknowledged or a limit is reached. */
  async deliverUntilAcknowledged(
    event: TestEvent,
    retryForMs = this.options.retryForMs,
  ): Promise<Answer> {
    const end = performance.now() + retryForMs;
    let waited = 0;
    for (let after = RETRY_AFTER_MS.first; ; after = Math.min(2 * after, RETRY_AFTER_MS.most)) {
      const answer = await this.deliver(event);
      const isOver = waited >= retryForMs || performance.now() > end;
      if (isAcknowledged(answer) || answer.status === 404 || isOver) return answer;
      await this.pause(after);
      waited += after;
    }
  }

  /**
   * Opens a connection and sends bytes.
   * @param options `elsewhere`: it is no POST to the URL of the receiver
   * @throws RequestLimit when too much was sent; the signal's reason
   */
  async exchange(
    steps: readonly Step[],
    { elsewhere = false, ...options }: Partial<ExchangeOptions> & { elsewhere?: boolean } = {},
  ): Promise<Answer> {
    if (this.#requests >= MAX_REQUESTS) throw new RequestLimit();
    this.#requests++;
    const { timeoutMs, signal } = this.options;
    const answer = await exchange(this.url, steps, { timeoutMs, signal, ...options });
    this.responses += answer.statuses.length;
    if (!elsewhere)
      for (const status of answer.statuses)
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return answer;
  }

  /** How often the effect of an event took place. @throws CliError 3 when it can't be read */
  async effectsOf(event: TestEvent): Promise<number> {
    const { effectsUrl = '', signal } = this.options;
    return (await readEffects(effectsUrl, signal)).get(event.key) ?? 0;
  }

  /** The effects of each event, once all have one, or time is up, and no other follows. */
  async settledEffectsOf(events: readonly TestEvent[]): Promise<readonly number[]> {
    const { effectsWithinMs } = this.options;
    const end = performance.now() + effectsWithinMs;
    const counts = () => Promise.all(events.map((event) => this.effectsOf(event)));
    while ((await counts()).includes(0) && performance.now() < end) await this.pause(100);
    // A receiver that answers 202 has a queue, so the handler of a duplicate may run later.
    await this.pause(this.statuses.has(202) ? effectsWithinMs : SETTLED_AFTER_MS);
    return counts();
  }

  pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.options.signal });
  }
}
