import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sentence } from '@call-webhooks/contract';
import { OUTCOMES } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import { CHECK_EVENT } from '@call-webhooks/recovery/internal';
import { environmentError } from '../errors.ts';
import { describeResult, foreignStatus, outcomeOf } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';

/** How a receiver is graded. */
export interface GradingOptions {
  readonly url: string;
  /** Without one, only unsigned requests can be sent. */
  readonly secret: string | undefined;
  /** At least one. */
  readonly otherSecrets?: readonly string[] | undefined;
  /** Where `secret` stands among all that are given; 1 by default. */
  readonly secretNumber?: number | undefined;
  /** Of the header names; `X-Service` by default. */
  readonly headerPrefix?: string | undefined;
  /** Whether to send events that handlers handle. */
  readonly runHandlers: boolean;
  /** Where the real field names differ from our guesses. */
  readonly fieldNames?: Partial<Record<keyof typeof DEFAULT_FIELD_NAMES, string>>;
  /** Where the receiver reports its effects. */
  readonly effectsUrl?: string | undefined;
  /** Whether any TLS certificate will do. */
  readonly insecure?: boolean | undefined;
  /** How long to wait for each response; milliseconds. */
  readonly timeoutMs: number;
  /** How long an event is sent again until it is acknowledged; milliseconds. */
  readonly retryForMs: number;
  /** How long effects may take after an acknowledgement; milliseconds. */
  readonly effectsWithinMs: number;
  /** How long the service waits for a response; milliseconds. */
  readonly acknowledgeWithinMs: number;
  readonly signal: AbortSignal;
}

export const DEFAULTS = {
  runHandlers: false,
  retryForMs: 10_000,
  effectsWithinMs: 10_000,
  acknowledgeWithinMs: 30_000,
} as const;

/** An event that is marked as a test. */
export interface TestEvent {
  readonly callId: string;
  readonly name: string;
  readonly body: Buffer;
}

/** One signed request. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What the ids of our calls begin with. */
export const CALL_ID_PREFIX = 'check.';
const RETRY_AFTER_MS = 500;
/** How long to look for another effect, where handlers run before the answer. */
const SETTLED_AFTER_MS = 400;

/** Whether the service takes this for an acknowledgement. */
export const isAcknowledged = (result: PostResult): boolean =>
  result.kind === 'status' && result.status >= 200 && result.status < 300;

/** The receiver that is graded, and all that checks may do to it. */
export class GradedReceiver {
  readonly options: GradingOptions;
  /** How far the receiver's clock is ahead of ours, as its first answer tells; seconds. */
  clockAhead: number | undefined;
  readonly #run = randomBytes(4).toString('hex');
  #events = 0;
  /** Whether it has acknowledged with 202, as what has a queue does. */
  #queues = false;

  constructor(options: GradingOptions) {
    this.options = options;
  }

  /** By the receiver's clock; milliseconds since the epoch, at a whole second. */
  now(): number {
    return (Math.floor(Date.now() / 1_000) + (this.clockAhead ?? 0)) * 1_000;
  }

  /** The name of our events: one that nobody handles, unless handlers may run. */
  get eventName(): string {
    return this.options.runHandlers ? 'call:completed' : CHECK_EVENT;
  }

  /** The fields of call events, under their real names where these are known. */
  get callFields(): object {
    const names = { ...DEFAULT_FIELD_NAMES, ...this.options.fieldNames };
    const now = this.now();
    const time = new Date(now).toISOString();
    return {
      [names.placedBy]: 'check.user',
      [names.createdAt]: now,
      [names.calledNumber]: '+12025550100',
      [names.calledEmail]: 'check@example.com',
      [names.calledName]: 'npx call-webhooks check',
      [names.dialedAt]: time,
      [names.endedAt]: time,
    };
  }

  /**
   * A new event.
   * @param wishes what its handler shall do: take so long (milliseconds), fail so often
   */
  event({ slowMs, failures }: { slowMs?: number; failures?: number } = {}): TestEvent {
    const callId = [
      `${CALL_ID_PREFIX}${this.#run}.${String(++this.#events)}`,
      ...(slowMs === undefined ? [] : [`slow-${String(slowMs)}`]),
      ...(failures === undefined ? [] : [`fail-${String(failures)}`]),
    ].join('.');
    const name = this.eventName;
    const body = Buffer.from(JSON.stringify({ eventName: name, callId, ...this.callFields }));
    return { callId, name, body };
  }

  /** Signs with `node:crypto` alone, so that the grader shares no code with our receivers. */
  sign(body: Buffer | string, secret = this.options.secret ?? ''): Delivery {
    const bytes = Buffer.from(body as string);
    const prefix = this.options.headerPrefix ?? 'X-Service';
    const webhookId = randomUUID();
    const timestamp = String(this.now() / 1_000);
    const signature = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${webhookId}.${timestamp}.`)
      .update(bytes)
      .digest('base64');
    const headers = {
      'Content-Type': 'application/json',
      [`${prefix}-Webhook-Id`]: webhookId,
      [`${prefix}-Timestamp`]: timestamp,
      [`${prefix}-Signature`]: `v1,${signature}`,
    };
    return { headers, body: bytes };
  }

  /**
   * Sends one request.
   * @param sendBody sends the body in its own way; its length is known beforehand
   * @throws the signal's reason
   */
  async send(
    { headers, body }: Delivery,
    {
      sendBody,
      timeoutMs = this.options.timeoutMs,
    }: {
      readonly sendBody?: (request: ClientRequest) => Promise<void> | void;
      readonly timeoutMs?: number;
    } = {},
  ): Promise<PostResult> {
    const { url, insecure, signal } = this.options;
    const length = { 'Content-Length': String(body.length) };
    const request = { url, headers: { ...headers, ...length }, body, timeout: timeoutMs };
    const result = await post({ ...request, insecure, sendBody }, signal);
    if (result.kind !== 'status') return result;
    this.#queues ||= result.status === 202;
    const { date } = result.headers;
    if (date === undefined) return result;
    const ahead = Math.round((Date.parse(date) - Date.now()) / 1_000);
    // One second is the precision of the header.
    this.clockAhead ??= Math.abs(ahead) > 2 ? ahead : 0;
    return result;
  }

  /** Signs and sends an event with a new webhook id. */
  deliver({ body }: TestEvent, timeoutMs?: number): Promise<PostResult> {
    return this.send(this.sign(body), timeoutMs === undefined ? {} : { timeoutMs });
  }

  /** Retries as the service does, only sooner, until it is acknowledged or a limit is reached. */
  async deliverUntilAcknowledged(event: TestEvent): Promise<PostResult> {
    const end = performance.now() + this.options.retryForMs;
    for (;;) {
      const result = await this.deliver(event);
      const is404 = result.kind === 'status' && result.status === 404;
      const isLate = performance.now() + RETRY_AFTER_MS > end;
      if (isAcknowledged(result) || is404 || isLate) return result;
      await this.pause(RETRY_AFTER_MS);
    }
  }

  /** How often each of these events had its effect, once all have one, or time is up. */
  async effectsOf(keys: readonly string[]): Promise<readonly number[]> {
    const { effectsUrl = '', effectsWithinMs, signal } = this.options;
    const counts = async () => {
      const effects = await readEffects(effectsUrl, signal);
      return keys.map((key) => effects.get(key) ?? 0);
    };
    const end = performance.now() + effectsWithinMs;
    while ((await counts()).includes(0) && performance.now() < end) await this.pause(100);
    // The handler of a duplicate may run later where there is a queue.
    await this.pause(this.#queues ? effectsWithinMs : SETTLED_AFTER_MS);
    return counts();
  }

  pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.options.signal });
  }
}

/** The key of the effect of an event. */
export const effectKey = (callId: string, eventName: string): string => `${callId}:${eventName}`;

const EFFECTS_FIX =
  'It must return [{ "key": "<callId>:<eventName>", "count": 1 }]. See docs/conformance.md.';

/**
 * Reads how often the effect of each event took place.
 * @throws CliError 3 when the URL does not report effects
 */
export async function readEffects(
  url: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  let list: unknown;
  try {
    const response = await fetch(url, { redirect: 'error', signal: within });
    list = response.ok ? await response.json() : undefined;
  } catch {
    signal.throwIfAborted();
  }
  if (!Array.isArray(list)) throw environmentError(`${url} does not report effects.`, EFFECTS_FIX);
  return new Map(list.map(entryOf));
}

function entryOf(entry: unknown): [string, number] {
  const { key, count } = (entry ?? {}) as { key?: unknown; count?: unknown };
  if (typeof key === 'string' && typeof count === 'number') return [key, count];
  throw environmentError('The list of effects has an entry without key or count.', EFFECTS_FIX);
}

/** What a check found. */
export interface Finding {
  readonly result: 'pass' | 'fail' | 'skipped';
  /** What the receiver did, or why that is not judged. Never a value of a body. */
  readonly saw: string;
  /** Instead of the fix of the check. */
  readonly fix?: string;
}

/** What a check needs besides a running receiver, and how the user gives it. */
const NEEDS = {
  secret: 'the signing secret',
  otherSecrets: 'several secrets',
  runHandlers: '--run-handlers',
  effectsUrl: '--effects',
} as const;

/** One check of `check --deep`. */
export interface Check {
  /** `clock/letters-after`: stable, since scripts select by it. */
  readonly id: string;
  readonly title: string;
  /** The sentences of the interface that it rests on. */
  readonly why: readonly Sentence[];
  readonly fix: string;
  readonly needs: readonly (keyof typeof NEEDS)[];
  /** Why it can't run on a receiver whose clock and secrets are its own. */
  readonly impossible?: string | undefined;
  /** How often each event has to have its effect, where no `run` looks at that. */
  readonly effects?: ReadonlyMap<string, number>;
  run(receiver: GradedReceiver): Promise<Finding>;
}

/** `clock` of `clock/letters-after`. */
export const groupOf = ({ id }: Pick<Check, 'id'>): string => id.slice(0, id.indexOf('/'));

/** What is not given, so that the check can't run. */
export function missingNeed({ needs }: Check, options: GradingOptions): string | undefined {
  const missing = needs.find((need) => options[need] === undefined || options[need] === false);
  return missing && `it needs ${NEEDS[missing]}`;
}

export const pass = (saw: string): Finding => ({ result: 'pass', saw });
export const fail = (saw: string): Finding => ({ result: 'fail', saw });

/** Fails. Some statuses have a fix of their own, whatever was tested. */
export function wrong(result: PostResult, to = ''): Finding {
  const saw = `${describeResult(result)}${to}`;
  if (result.kind !== 'status') return fail(saw);
  const { status } = result;
  const outcome = outcomeOf(result);
  if (status >= 500 && outcome !== undefined)
    return { ...fail(`${String(status)} ${outcome}${to}`), fix: OUTCOMES[outcome].fix };
  if (status >= 500)
    return { ...fail(saw), fix: "This is a server error. The cause is in the receiver's log." };
  const harms = (status >= 300 && status < 400) || status === 404 || status === 410;
  return harms ? { ...fail(saw), fix: foreignStatus(status).fix } : fail(saw);
}

/** Passes if the delivery was acknowledged. */
export const accepted = (result: PostResult, of = ''): Finding =>
  isAcknowledged(result) ? pass(describeResult(result)) : wrong(result, of);

/** Passes if there is a response, and it doesn't pause the rule. */
export const answered = (result: PostResult, to = ''): Finding =>
  result.kind === 'status' && result.status !== 404
    ? pass(describeResult(result))
    : wrong(result, to);
