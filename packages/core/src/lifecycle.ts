// An app closes its receiver, its server and what its handlers use when it receives a signal.
import * as z from 'zod/mini';
import { checkOptions, option } from './check-options.ts';
import { docsUrl } from './errors.ts';
import { type OrItsHandler, partOf } from './ready.ts';
import { describeError } from './report/error-text.ts';
import { type Logger, safeLogger } from './report/logger.ts';
import { MAX_TIMER_MS } from './time.ts';

/** An object with a method `close`, such as a server, a worker or a store. */
export interface Closable {
  close(...given: never[]): unknown;
}

/** The options of `closeOnSignal`. */
export interface CloseOnSignalOptions {
  /**
   * The server, or a list of servers: what `listen()` returned, or the Fastify app. It is closed after
   * the receiver. There is none by default.
   */
  server?: Closable | Closable[] | undefined;
  /**
   * What your handlers use: workers, stores, or functions such as `() => pool.end()`. They are closed
   * last, in this order. There are none by default.
   */
  resources?: (Closable | (() => unknown))[] | undefined;
  /**
   * The time in milliseconds for which deliveries are still accepted after `ready` has started to
   * return 503, so that a load balancer can stop sending requests first; 0 by default.
   */
  delayMs?: number | undefined;
  /** The time in milliseconds that running handlers get to finish; 10,000 by default. */
  graceMs?: number | undefined;
  /** Where log lines go; `console` by default. */
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
 * Shuts the process down cleanly on SIGTERM and SIGINT. It closes the receiver first (new deliveries
 * are answered with 503, running handlers may finish), then the server, then `resources`. The process
 * then ends by itself, with exit code 0, or 1 if something failed to close, which is logged.
 *
 * If something still keeps the process alive 10 s after `delayMs` and `graceMs`, the process exits with
 * code 1. A second signal ends it at once.
 * @param receiver a receiver, a handler that has one, or a queue worker
 * @throws WebhookError `invalid-options`
 * @example
 * closeOnSignal(hook, { server, resources: [worker, () => pool.end()] });
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
        logger.error({ docs }, `call-webhooks: something failed to close: ${describeError(error)}`);
      }
    logger.info({}, 'call-webhooks: closed');
    letGoOfParent(process);
  };

  const onLimit = () => {
    const alive = process.getActiveResourcesInfo();
    logger.error(
      { alive, docs },
      'call-webhooks: something did not close in time, so the process exits with code 1',
    );
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
