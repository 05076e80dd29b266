import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../../app.ts';
import { badInput, environmentError } from '../../errors.ts';
import type { SecretOptions } from '../../input/secrets.ts';
import { isLoopback } from '../../input/target-url.ts';
import { t } from '../../terminal/text.ts';
import { arrivalLines, arrivalRecord, type Arrival } from './arrival.ts';
import { createLearner } from './learn.ts';
import { handle, type Handled, type HandleOptions } from './handle.ts';

/** The flags of `listen`. */
export interface ListenOptions extends SecretOptions {
  readonly port: number;
  readonly host: string;
  readonly forwardTo?: string;
  readonly allowExternal?: boolean;
  readonly verify: boolean;
  readonly headerPrefix?: string;
  readonly tolerance: number;
  readonly answer?: number;
  readonly body: boolean;
  readonly learn?: boolean;
}

/** Receives deliveries until it is stopped, and prints each. */
export async function serve(
  app: App,
  options: ListenOptions,
  handling: HandleOptions,
): Promise<undefined> {
  const { output, signal } = app;
  // One after another, so that lines do not mix and a slow pipe slows the server down.
  let printed: Promise<void> = Promise.resolve();
  const learner = options.learn ? createLearner(app) : undefined;
  let failure: Error | undefined;
  const failed = new AbortController();
  const server = createServer((request, response) => {
    void (async () => {
      const handled = await handle(request, handling);
      respond(response, handled);
      await (printed = printed.then(async () => {
        await printArrival(app, handled.arrival, options.body);
        learner?.add(handled.arrival);
      }));
    })().catch((error: unknown) => {
      response.destroy();
      failure ??= error instanceof Error ? error : new Error(String(error));
      failed.abort();
    });
  });
  await start(server, options);
  try {
    const { port } = server.address() as AddressInfo;
    const host = options.host.includes(':') ? `[${options.host}]` : options.host;
    const url = `http://${host}:${String(port)}`;
    const { forwardTo } = handling;
    if (output.json) await output.print({ type: 'ready', url, forwardTo });
    output.message(t`Listening at ${output.messageColors.cyan(url)} on any path.`);
    if (forwardTo !== undefined) output.message(t`Forwarding to ${forwardTo}.`);
    output.message('Press Ctrl-C to stop.');
    if (!handling.verification) output.warn('Nothing is verified: anyone can send anything.');
    await aborted(AbortSignal.any([signal, failed.signal]));
    if (failure !== undefined && !signal.aborted) throw failure;
    return undefined;
  } finally {
    server.close();
    server.closeAllConnections();
    await printed.catch(() => undefined);
    await learner?.finish();
  }
}

async function start(server: ReturnType<typeof createServer>, { port, host }: ListenOptions) {
  const loopback = isLoopback(host.includes(':') ? `[${host}]` : host);
  if (!loopback && !/^[\d.:a-f]+$/i.test(host))
    throw badInput(`--host must be an address, not ${host}.`, 'Example: --host 0.0.0.0');
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw environmentError(
      code === 'EADDRINUSE'
        ? `Port ${String(port)} is in use.`
        : `Cannot listen on ${host}:${String(port)}: ${code}.`,
      'Use another port: --port 0 finds a free one.',
    );
  });
}

async function printArrival({ output }: App, arrival: Arrival, withBody: boolean): Promise<void> {
  await output.print(arrivalRecord(arrival), (colors) => arrivalLines(colors, arrival, withBody));
  const { warning } = arrival.forwarded ?? {};
  const { bold, red } = output.messageColors;
  if (warning !== undefined) output.warn(bold(red(warning)));
}

function respond(response: ServerResponse, { arrival, body, contentType }: Handled): void {
  const { status } = arrival;
  response.writeHead(status, {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(status === 405 && { allow: 'POST' }),
    ...(status !== 204 && { 'content-length': body.length }),
  });
  response.end(body);
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, 'abort');
