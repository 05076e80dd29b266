import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inferNames } from '@call-webhooks/client/infer';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { requiredSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import {
  isLoopback,
  type ReceiverOptions,
  targetUrl,
  withReceiverOptions,
} from '../input/target.ts';
import { askSecret } from '../terminal/prompts.ts';
import { t } from '../terminal/text.ts';
import { printInferred } from './infer.ts';
import {
  type Arrival,
  arrivalLines,
  arrivalRecord,
  createListener,
  type Handled,
  type Handling,
} from './listen-delivery.ts';

/** `listen`: a receiver that shows what arrives. */
export function listenCommand(app: App, base: Command): Command {
  const command = base
    .option('-p, --port <number>', 'the port; 0: any', wholeNumber('--port', 0, 65_535), 3000)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('-f, --forward-to <url>', 'forward verified deliveries, byte for byte')
    .option('--answer <status>', 'respond with this status: 2xx, 4xx or 5xx', parseStatus)
    .option('--no-verify', 'accept everything: for actions without a secret')
    .option('--learn', 'find the unknown field names; see: call-webhooks infer --help')
    .option('--no-body', 'print one line per delivery, without its body')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option(
      '--tolerance <seconds>',
      'how old a delivery may be',
      wholeNumber('--tolerance', 0, 86_400),
      300,
    );
  return withReceiverOptions(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Deliveries that fail verification are not forwarded. If your server returns 404,
410 or a redirect, the service gets a 503 and you get a warning: a 404 would
pause the rule at once.
${examples(
  ['listen --secret-file .secret', 'See what the service sends'],
  ['listen -f 8080/hook --json | tee deliveries.jsonl', 'Forward and record'],
  ['listen --answer 500 --port 3001', 'See the service retry'],
  ['listen --learn', 'Find the unknown field names; Ctrl-C prints the options to paste'],
)}`,
    )
    .action(app.action((options: ListenOptions) => listen(app, options)));
}

function parseStatus(given: string): number {
  const status = wholeNumber('--answer', 200, 599)(given);
  if (status === 404)
    throw badInput('--answer 404 would pause the rule at once.', 'To test retries, use 500.');
  if (status === 410 || (status >= 300 && status < 400))
    throw badInput(`--answer ${given} is not supported.`, 'To test retries, use 500.');
  return status;
}

async function listen(app: App, options: ListenOptions): Promise<undefined> {
  const { forwardTo, allowExternal, insecure, answer, headerPrefix, tolerance } = options;
  const { io, signal } = app;
  const ask = app.interactive
    ? () => askSecret(app, 'The signing secret of the webhook')
    : undefined;
  const atStart = options.verify ? await requiredSecrets(io, options, ask) : [];
  const isFile = options.verify && options.secretFile !== undefined;
  return serve(app, options, {
    secrets: () => (isFile ? requiredSecrets(io, options) : Promise.resolve(atStart)),
    unverified: !options.verify,
    ...{ headerPrefix, toleranceSeconds: tolerance, insecure, answer, signal },
    forwardTo: forwardTo === undefined ? undefined : targetUrl(forwardTo, allowExternal),
  });
}

/** The flags of `listen`. */
interface ListenOptions extends SecretOptions, ReceiverOptions {
  readonly port: number;
  readonly host: string;
  readonly forwardTo?: string;
  readonly verify: boolean;
  readonly headerPrefix?: string;
  readonly tolerance: number;
  readonly answer?: number;
  readonly body: boolean;
  readonly learn?: boolean;
}

/** Receives deliveries until it is stopped, and prints each. */
async function serve(app: App, options: ListenOptions, handling: Handling): Promise<undefined> {
  const { output, signal } = app;
  // One after another, so that lines do not mix and a slow pipe slows the server down.
  let printed: Promise<void> = Promise.resolve();
  const learner = options.learn ? createLearner(app) : undefined;
  const handle = createListener(handling);
  let failure: Error | undefined;
  const failed = new AbortController();
  const server = createServer((request, response) => {
    void (async () => {
      const handled = await handle(request);
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
    if (handling.unverified) output.warn('Nothing is verified: anyone can send anything.');
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
    ...(status !== 204 && { 'content-length': Buffer.byteLength(body) }),
  });
  response.end(body);
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, 'abort');

/** Learns field names from the deliveries that `listen` accepts. */
interface Learner {
  /** Adds a delivery. Reports names that are new or have changed. */
  add(arrival: Arrival): void;
  /** Prints everything that was learned. */
  finish(): Promise<void>;
}

/** Keeps the latest bodies: names do not change with more. */
const MAX_SAMPLES = 500;

/** Creates a learner. Reports go to stderr, the result of {@link Learner.finish} to stdout. */
function createLearner(app: App): Learner {
  const { output } = app;
  const samples: unknown[] = [];
  const reported = new Map<string, string>();
  return {
    add({ body, problem, outcome }) {
      if (problem !== undefined || outcome === 'replayed') return;
      const sample = parse(body);
      if (sample === undefined) return;
      samples.push(sample);
      if (samples.length > MAX_SAMPLES) samples.shift();
      for (const { setting, status, candidates } of inferNames(samples).fieldNames) {
        const [candidate] = candidates;
        if (status !== 'found' || candidate === undefined) continue;
        if (reported.get(setting) === candidate.name) continue;
        reported.set(setting, candidate.name);
        const { green } = output.messageColors;
        output.message(
          t`${green('learned')}  ${setting}: ${candidate.name}  (${candidate.reasons.join('; ')})`,
        );
      }
    },
    finish: () => printInferred(app, inferNames(samples)),
  };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}
