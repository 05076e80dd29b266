// A receiver and the service that sends to it, minute by minute, whose metrics are scraped from the exporter
// of Prometheus after each minute. Time is that of Jest's fake timers.
import { jest } from '@jest/globals';
import { callBody, freePort } from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  memoryStore,
  sign,
  type ReceiverOptions,
  type Store,
} from '@call-webhooks/core';
import { createJobProcessor } from '@call-webhooks/core/stores';
import { instrument } from '@call-webhooks/opentelemetry';
import { status } from '@call-webhooks/recovery';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const MINUTE = 60_000;

/** What happens in one minute. */
export type Minute = (service: Service) => unknown;

/** The service, and whoever breaks and mends the receiver. */
export interface Service {
  /** @returns the outcome */
  deliver(eventName: string, options?: { callId?: string; lag?: number }): Promise<string>;
  /** A delivery that was signed with another secret. */
  forge(): Promise<string>;
  /** A request of a scanner, without headers. */
  scan(): Promise<string>;
  redrive(eventName: string): Promise<string>;
  /** Runs all jobs of the queue. */
  work(): Promise<void>;
  /** What the handlers do from now on: succeed, fail, or take so many milliseconds. */
  handlers: 'succeed' | 'fail' | number;
  /** Whether the store answers. */
  isStoreDown: boolean;
}

/** A series of the exporter, with its value at each minute; `_` where it was not there. */
export type Series = Map<string, string[]>;

/** How the receiver is set up. */
export interface Setup extends Pick<ReceiverOptions, 'deadLetter' | 'maxAttempts'> {
  readonly hasQueue?: boolean;
  /** Whether `status` is passed to `instrument`; `true` by default. */
  readonly hasStatus?: boolean;
}

export const times = (count: number, minute: Minute): Minute[] => Array<Minute>(count).fill(minute);
export const quiet: Minute = () => undefined;

const logger = { warn: () => undefined, error: () => undefined };

/** Runs the minutes, and scrapes after each. */
export async function scrapes(
  minutes: readonly Minute[],
  { hasQueue = false, hasStatus = true, ...options }: Setup = {},
): Promise<Series> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const port = await freePort();
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const secret = generateSecret();
  const jobs: unknown[] = [];
  const store = failingStore(() => service.isStoreDown);
  const telemetry = instrument({
    meterProvider,
    ...(hasStatus && { status: () => status({ store }) }),
  });
  const handle = async () => {
    if (service.handlers === 'fail') throw new Error('The CRM is down');
    if (typeof service.handlers === 'number') await jest.advanceTimersByTimeAsync(service.handlers);
  };
  const handlers = { on: { 'call:started': handle, 'call:completed': handle }, logger };
  const receiver = createReceiver({
    ...{ secret, store, around: telemetry.around, logger },
    ...(hasQueue
      ? { queue: { enqueue: (job: unknown) => Promise.resolve(void jobs.push(job)) } }
      : { ...handlers, ...options }),
  });
  const process = createJobProcessor({ ...handlers, log: store.log });
  let calls = 0;
  const nextCall = () => `call-${String(++calls)}`;
  const post = async (headers: Record<string, string>, body: string) =>
    (await receiver.receive({ headers, body: Buffer.from(body) })).outcome.outcome;
  const service: Service = {
    handlers: 'succeed',
    isStoreDown: false,
    async deliver(eventName, { callId = nextCall(), lag = 0 } = {}) {
      const body = callBody(callId, eventName);
      const timestamp = Math.floor(Date.now() / 1_000) - lag;
      return post(await sign({ secret, body, timestamp }), body);
    },
    async forge() {
      const body = callBody(nextCall(), 'call:completed');
      const timestamp = Math.floor(Date.now() / 1_000);
      return post(await sign({ secret: generateSecret(), body, timestamp }), body);
    },
    scan: () => post({}, ''),
    redrive: async (eventName) =>
      (await receiver.deliver({ eventName, callId: nextCall() })).outcome,
    async work() {
      for (const job of jobs.splice(0)) await process(job as never);
    },
  };

  const series: Series = new Map();
  try {
    for (const [at, minute] of minutes.entries()) {
      const end = Date.now() + MINUTE;
      await minute(service);
      await jest.advanceTimersByTimeAsync(Math.max(0, end - Date.now()));
      const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
      for (const [, name = '', value = ''] of text.matchAll(
        /^(call_webhooks_\S+?(?:\{.*\})?) (\S+)/gm,
      )) {
        const values = series.get(name) ?? Array<string>(at).fill('_');
        series.set(name, [...values, value]);
      }
    }
  } finally {
    jest.useRealTimers();
    telemetry.close();
    await receiver.close();
    await meterProvider.shutdown();
  }
  return series;
}

/** A store in memory that can be told to fail, with its log. */
function failingStore(isDown: () => boolean): Store {
  const store = memoryStore();
  const failing =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      isDown() ? Promise.reject(new Error('connect ECONNREFUSED')) : work(...args);
  // Its `rememberFor` is a getter, which grows.
  return Object.assign(Object.create(store) as Store, {
    admit: failing(store.admit.bind(store)),
    ping: failing(async () => store.ping?.()),
  });
}
