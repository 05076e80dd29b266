// An app closes its receiver, its server and what its handlers use when it is told to.
import * as z from 'zod/mini';
import { checkOptions, option } from './check-options.ts';
import { docsUrl } from './errors.ts';
import { type OrItsHandler, partOf } from './ready.ts';
import { describeError } from './report/error-text.ts';
import { type Logger, safeLogger } from './report/logger.ts';
import { MAX_TIMER_MS } from './time.ts';

/** What has `close`: a server, a worker, a store. */
export interface Closable {
  close(...given: never[]): unknown;
}

/** Options of `closeOnSignal`. */
export interface CloseOnSignalOptions {
  /** The server, or several: what `listen()` returned, or Fastify's app. */
  server?: Closable | Closable[] | undefined;
  /** What handlers use, closed last and in this order: workers, stores, `() => pool.end()`. */
  resources?: (Closable | (() => unknown))[] | undefined;
  /**
   * Milliseconds in which deliveries are still accepted while `ready` says 503, so that a load balancer
   * finds out first; 0 by default.
   */
  delayMs?: number | undefined;
  /** Milliseconds that running handlers get; 10,000 by default. */
  graceMs?: number | undefined;
  /** `console` by default. */
  logger?: Logger | undefined;
}

const aClosable = () => option.object<Closable>('close');
const aResource = () =>
  z.union(
    [option.function<() => unknown>(), aClosable()],
    'expected an object with close, or a function such as () => redis.disconnect()',
  );

const rules = () => ({
  server: z.optional(
    z.union([aClosable(), z.array(aClosable())], 'expected what listen() returned, or a list'),
  ),
  resources: z.optional(z.array(aResource(), 'expected a list')),
  delayMs: option.default(option.milliseconds(0), 0),
  graceMs: option.default(option.milliseconds(0), 10_000),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** What everything but the handlers gets to close; milliseconds. */
const CLOSING_MS = 10_000;
/** `npm start` passes Ctrl+C on, which the terminal has sent already; milliseconds. */
const SAME_SIGNAL_MS = 500;

/**
 * On SIGTERM and SIGINT, closes the receiver (new deliveries get 503, running handlers end), then the
 * server, then what handlers use. The process ends by itself, with 0. If something is still alive 10 s
 * after the handlers' grace, it ends with 1; on a second signal, at once. What fails to close is logged.
 * @param receiver a receiver, a handler that has one, or the worker of a queue
 * @throws WebhookError `invalid-options`
 * @example closeOnSignal(hook, { server, resources: [worker, () => pool.end()] });
 */
export function closeOnSignal(
  receiver: OrItsHandler<{ close(options: { graceMs: number; delayMs: number }): unknown }>,
  options: CloseOnSignalOptions = {},
): void {
  const settings = checkOptions('closeOnSignal', rules(), options);
  const { server = [], resources = [], delayMs, graceMs } = settings;
  const logger = safeLogger(settings.logger);
  const { process } = globalThis; // by its bare name, Next warns of it wherever the edge imports core
  const docs = docsUrl('deploying.md#ready-and-shut-down');
  let signalledAt: number | undefined;

  const close = async () => {
    const steps = [
      () => partOf(receiver).close({ graceMs, delayMs }),
      ...[server].flat().map((one) => () => closeServer(one)),
      ...resources.map((one) => (typeof one === 'function' ? one : () => one.close())),
    ];
    for (const step of steps)
      try {
        await step();
      } catch (error) {
        process.exitCode = 1;
        logger.error({ docs }, `call-webhooks: closing failed: ${describeError(error)}`);
      }
    logger.info({}, 'call-webhooks: closed');
    letGoOfParent(process);
  };

  const onLimit = () => {
    const alive = process.getActiveResourcesInfo();
    logger.error({ alive, docs }, 'call-webhooks: something did not close in time');
    process.exit(1);
  };

  const onSignal = (signal: keyof typeof CODES) => {
    if (signalledAt !== undefined) {
      if (performance.now() - signalledAt > SAME_SIGNAL_MS) process.exit(CODES[signal]);
      return;
    }
    signalledAt = performance.now();
    logger.info({ signal }, 'call-webhooks: closing');
    setTimeout(onLimit, Math.min(delayMs + graceMs + CLOSING_MS, MAX_TIMER_MS)).unref();
    void close();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
}

/**
 * In a child of fork() and in a worker of a cluster, the channel to the parent keeps the process alive
 * as long as anything listens to it, such as pm2's own code.
 */
function letGoOfParent({ channel }: NodeJS.Process): void {
  try {
    channel?.unref();
  } catch {
    // The process that Jest shows to tests is a copy without a channel of its own.
  }
}

/** A server of `node:http`. One of `node:http2` can't close connections. */
interface NodeServer {
  close(onClosed: () => void): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

/** Connections that are kept alive end when they are idle, all others after half of the time. */
async function closeServer(server: Closable): Promise<unknown> {
  if (!('listening' in server)) return server.close();
  const node = server as NodeServer;
  const idle = setInterval(() => node.closeIdleConnections?.(), 50);
  const late = setTimeout(() => node.closeAllConnections?.(), CLOSING_MS / 2);
  return new Promise<void>((resolve) => node.close(resolve)).finally(() => {
    clearInterval(idle);
    clearTimeout(late);
  });
}
