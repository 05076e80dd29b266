import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../app.ts';
import { badInput, environment } from '../cli-error.ts';
import { secretsNeeded } from '../input/secrets.ts';
import { isLoopback, targetUrl } from '../input/target-url.ts';
import { secret as askSecret } from '../terminal/ask.ts';
import { t } from '../terminal/text.ts';
import { arrivalRecord, type Arrival } from './arrival.ts';
import { arrivalLines } from './arrival-lines.ts';
import type { Authentication } from './authenticate.ts';
import { handle, type Handled, type Treatment } from './handle.ts';
import { Memory } from './memory.ts';
import type { ListenOptions } from './options.ts';

/** Receives until it is stopped, and shows what arrives. */
export async function listen(app: App, options: ListenOptions): Promise<undefined> {
  const { output, signal } = app;
  const treatment: Treatment = {
    authentication: options.verify ? await authenticationOf(app, options) : undefined,
    forwardTo:
      options.forwardTo === undefined
        ? undefined
        : targetUrl(options.forwardTo, options.allowExternal),
    answer: options.answer,
    memory: new Memory(),
    signal,
  };
  // One after the other: lines of two deliveries do not mix, and a slow pipe slows us down.
  let shown: Promise<void> = Promise.resolve();
  let failed: Error | undefined;
  const gone = new AbortController();
  const server = createServer((request, response) => {
    void (async () => {
      const handled = await handle(request, treatment);
      write(response, handled);
      await (shown = shown.then(() => tell(app, handled.arrival, options.body)));
    })().catch((error: unknown) => {
      response.destroy();
      failed ??= error instanceof Error ? error : new Error(String(error));
      gone.abort();
    });
  });
  await start(server, options);
  try {
    const { port } = server.address() as AddressInfo;
    const name = options.host.includes(':') ? `[${options.host}]` : options.host;
    const url = `http://${name}:${String(port)}`;
    if (output.json)
      await output.show({ type: 'ready', url, forwardTo: treatment.forwardTo }, () => []);
    const behind =
      treatment.forwardTo === undefined ? '' : `, forwarding to ${treatment.forwardTo}`;
    output.say(t`Listening at ${output.talk.cyan(url)} (any path)${behind}. Ctrl-C ends it.`);
    if (!treatment.authentication) output.warn('Nothing is verified: anybody can send anything.');
    await until(AbortSignal.any([signal, gone.signal]));
    if (failed !== undefined && !signal.aborted) throw failed;
    return undefined;
  } finally {
    server.close();
    server.closeAllConnections();
    await shown.catch(() => undefined);
  }
}

async function authenticationOf(app: App, options: ListenOptions): Promise<Authentication> {
  const ask = app.interactive
    ? () => askSecret(app, 'The signing secret of the webhook')
    : undefined;
  const first = await secretsNeeded(app.io, options, ask);
  const { secretFile } = options;
  return {
    secrets:
      secretFile === undefined
        ? () => Promise.resolve(first)
        : () => secretsNeeded(app.io, options),
    headerPrefix: options.headerPrefix,
    toleranceSeconds: options.tolerance,
  };
}

async function start(server: ReturnType<typeof createServer>, { port, host }: ListenOptions) {
  const loopback = isLoopback(host.includes(':') ? `[${host}]` : host);
  if (!loopback && !/^[\d.:a-f]+$/i.test(host))
    throw badInput(`--host takes an address, not ${host}.`, 'Like this: --host 0.0.0.0');
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw environment(
      code === 'EADDRINUSE'
        ? `Port ${String(port)} is in use.`
        : `Can't listen on ${host}:${String(port)}: ${code}.`,
      'Take another one: --port 0 finds a free port.',
    );
  });
}

async function tell({ output }: App, arrival: Arrival, withBody: boolean): Promise<void> {
  await output.show(arrivalRecord(arrival), (ink) => arrivalLines(ink, arrival, withBody));
  const { warning } = arrival.forwarded ?? {};
  if (warning !== undefined) output.warn(output.talk.bold(output.talk.red(warning)));
}

function write(response: ServerResponse, { arrival, body, contentType }: Handled): void {
  const { status } = arrival;
  response.writeHead(status, {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(status === 405 && { allow: 'POST' }),
    ...(status !== 204 && { 'content-length': body.length }),
  });
  response.end(body);
}

const until = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, 'abort');
