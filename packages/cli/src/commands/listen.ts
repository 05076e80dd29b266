import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inferNames } from './infer-names.ts';
import {
  createReceiver,
  generateSecret,
  memoryStore,
  type OutcomeCode,
  type Receiver,
  sign,
} from '@call-webhooks/core';
import { readRawBody } from '@call-webhooks/core/node';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { describeResult, outcomeOf } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { wholeNumber } from '../input/options.ts';
import { requiredSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { type ReceiverOptions, targetUrl, withReceiverOptions } from '../input/target.ts';
import { bodyLines, duration, timeOfDay } from '../terminal/format.ts';
import { askSecret } from '../terminal/prompts.ts';
import { shortId } from '../terminal/table.ts';
import { type Colors, join, t, text, type Text } from '../terminal/text.ts';
import { printInferred } from './infer.ts';
import { checkSignature } from './verify.ts';

interface ListenOptions extends SecretOptions, ReceiverOptions {
  readonly port: number;
  readonly host: string;
  readonly forwardTo?: string;
  readonly verify: boolean;
  readonly headerPrefix?: string;
  readonly tolerance: number;
  readonly respond?: number;
  readonly body: boolean;
  readonly learn?: boolean;
}

/** `listen`: a receiver that shows what arrives. */
export function listenCommand(app: App, base: Command): Command {
  const command = base
    .option(
      '-p, --port <number>',
      'the port; 0 means any free port',
      wholeNumber('--port', 0, 65_535),
      3000,
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option(
      '-f, --forward-to <url>',
      'forward verified deliveries unchanged; 8080/hook means http://127.0.0.1:8080/hook',
    )
    .option('--respond <status>', 'respond with this status: 2xx, 4xx or 5xx', parseStatus)
    .option('--no-verify', 'verify nothing, for actions without a secret')
    .option('--learn', 'find unknown field names; see: npx call-webhooks infer --help')
    .option('--no-body', 'print one line per delivery, without its body')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option(
      '--tolerance <seconds>',
      'the maximum age of a delivery',
      wholeNumber('--tolerance', 0, 86_400),
      300,
    );
  return withReceiverOptions(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Deliveries that cannot be verified are not forwarded. For the others, the
command prints the status of your server and, if your server is a receiver of
these packages, the outcome. If your server returns 404, 410 or a redirect, the
service receives a 503 instead, and the command prints a warning: a 404 would
pause the rule at once.
${examples(
  ['listen --secret-file .secret', 'See what the service sends'],
  [
    'listen -f 8080/hook --json | tee deliveries.jsonl',
    'Forward deliveries to your app, and record them',
  ],
  ['listen --respond 500 --port 3001', 'Watch how the service retries'],
  ['listen --learn', 'Find unknown field names; Ctrl-C prints the options to paste'],
)}`,
    )
    .action(app.action((options: ListenOptions) => listen(app, options)));
}

function parseStatus(given: string): number {
  const status = wholeNumber('--respond', 200, 599)(given);
  if (!isWithheld(status)) return status;
  throw badInput(
    `--respond ${given} would pause the rule, or is not a final status.`,
    'To test retries, use 500.',
  );
}

/** Receives deliveries until it is stopped, and prints each. */
async function listen(app: App, options: ListenOptions): Promise<undefined> {
  const { output, signal } = app;
  const { forwardTo, verify, learn, allowExternal } = options;
  const target = forwardTo === undefined ? undefined : targetUrl(forwardTo, allowExternal);
  const handle = await createListener(app, options, target);
  // One after another, so that lines do not mix and a slow pipe slows the server down.
  let printed: Promise<void> = Promise.resolve();
  const samples: unknown[] = [];
  const failed = new AbortController();
  const server = createServer((request, response) => {
    void (async () => {
      const { arrival, headers, body, received } = await handle(request);
      response.statusCode = arrival.status;
      response.setHeaders(new Map(Object.entries(headers))).end(body);
      const isGenuine = arrival.problem === undefined && arrival.outcome !== 'replayed';
      // Names do not change with more.
      if (learn && isGenuine && samples.length < 500) samples.push(bodyRecord(received).body);
      await (printed = printed.then(() => printArrival(app, arrival, received, options.body)));
    })().catch((error: unknown) => {
      response.destroy();
      failed.abort(error);
    });
  });
  await start(server, options);
  try {
    const { port } = server.address() as AddressInfo;
    const host = options.host.includes(':') ? `[${options.host}]` : options.host;
    const url = `http://${host}:${String(port)}`;
    if (output.json) await output.print({ type: 'ready', url, forwardTo: target });
    output.message(t`Listening at ${output.messageColors.cyan(url)} on any path.`);
    if (target !== undefined) output.message(t`Forwarding to ${target}.`);
    output.message('Press Ctrl-C to stop.');
    if (!verify) output.warn('Signatures are not verified, so anyone can send anything.');
    const end = AbortSignal.any([signal, failed.signal]);
    if (!end.aborted) await once(end, 'abort');
    if (!signal.aborted) failed.signal.throwIfAborted();
    return undefined;
  } finally {
    server.close();
    server.closeAllConnections();
    await printed.catch(() => undefined);
    if (learn) await printInferred(app, inferNames(samples));
  }
}

async function start(server: Server, { port, host }: ListenOptions): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw environmentError(
      code === 'EADDRINUSE'
        ? `Port ${String(port)} is in use.`
        : `Cannot listen on ${host}:${String(port)}: ${code}.`,
      'Use another --port (0 finds a free one) or --host.',
    );
  });
}

/** One request, and what was responded. */
interface Arrival {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** A code of the outcome table, or what `listen` did. */
  readonly outcome: string;
  readonly verified: boolean;
  /** Why it was refused. */
  readonly problem?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  readonly forwarded?: Forwarded | undefined;
}

/** The response of the server behind. */
interface Forwarded {
  readonly url: string;
  /** The status, or the error. */
  readonly response: string;
  /** What a receiver of these packages says about the delivery. */
  readonly outcome?: OutcomeCode | undefined;
  readonly ms: number;
  /** Set when the response was not passed on. */
  readonly warning?: string | undefined;
}

interface Handled {
  readonly arrival: Arrival;
  readonly received: Uint8Array;
  /** Of the response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const LIMITS = { bodyLimit: 10 * 1024 ** 2, bodyTimeout: 10_000 };
const logger = { warn: () => undefined, error: () => undefined };
const on = {
  'call:started': () => undefined,
  'call:completed': () => undefined,
  'call:recording-available': () => undefined,
};

/** A receiver that handles nothing, or forwards. @throws CliError 2 and 3 */
async function createListener(
  app: App,
  options: ListenOptions,
  forwardTo: string | undefined,
): Promise<(request: IncomingMessage) => Promise<Handled>> {
  const { verify, headerPrefix, tolerance: toleranceSeconds, respond } = options;
  const ask = app.interactive
    ? () => askSecret(app, 'The signing secret of the webhook')
    : undefined;
  // What nobody has signed is signed here: there is one way through the receiver.
  const own = verify ? undefined : generateSecret();
  const atStart = own === undefined ? await requiredSecrets(app.io, options, ask) : [own];
  const store = memoryStore({ maxEntries: 10_000, onEvicted: () => undefined });
  const receiverWith = (secret: readonly string[]) =>
    createReceiver({
      secret,
      headerPrefix,
      toleranceSeconds,
      store,
      logger,
      on,
      bodyLimit: LIMITS.bodyLimit,
    });
  let used: { secret: readonly string[]; receiver: Receiver } | undefined;

  return async (request) => {
    const { method = '', url: path = '' } = request;
    const time = new Date().toISOString();
    const reading = readRawBody(request, LIMITS);
    const received = await reading.catch(() => new Uint8Array());
    const headers: Record<string, string | string[] | undefined> = { ...request.headers };
    if (own !== undefined) {
      const signature = await sign({ secret: own, body: received, headerPrefix });
      for (const [name, value] of Object.entries(signature)) headers[name.toLowerCase()] = value;
    }
    // A secret that is rotated in its file is known at once.
    const isFile = verify && options.secretFile !== undefined;
    const secret = isFile ? await requiredSecrets(app.io, options) : atStart;
    if (secret.join() !== used?.secret.join()) used = { secret, receiver: receiverWith(secret) };
    const { receiver } = used;
    const response = await receiver.receive({ method, headers, body: () => reading });
    const { outcome, webhookId, error, eventName, callId } = response.outcome;
    const isAuthentic = webhookId !== undefined;
    const found =
      outcome === 'signature-mismatch' &&
      (await checkSignature({ headers, body: received }, { secret, headerPrefix }));
    const cause = found && !found.verified ? found.cause : undefined;
    const arrival: Arrival = {
      time,
      method,
      path,
      status: response.status,
      outcome,
      eventName,
      callId,
      verified: isAuthentic && verify,
      problem: isAuthentic ? undefined : (cause ?? error?.message),
      webhookId: verify ? webhookId : undefined,
    };
    if (isAuthentic && forwardTo !== undefined)
      return forward(request, arrival, received, forwardTo, options.insecure, app.signal);
    if (respond === undefined || !isAuthentic || outcome === 'replayed')
      return { arrival, received, headers: response.headers, body: response.body };
    const told = { ...arrival, status: respond, outcome: 'responded with --respond' };
    return { arrival: told, received, headers: JSON_TYPE, body: '{}' };
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
/** Below the service's 30 seconds, so that it gets our response. In milliseconds. */
const TIMEOUT_MS = 28_000;

/** Statuses that the service does not get: they could pause the rule, or lose the delivery. */
const isWithheld = (status: number): boolean =>
  status < 200 || (status >= 300 && status < 400) || status === 404 || status === 410;

/** Forwards the raw bytes and the signature headers, so that the server behind can verify them too. */
async function forward(
  request: IncomingMessage,
  arrival: Arrival,
  received: Uint8Array,
  url: string,
  insecure: boolean | undefined,
  signal: AbortSignal,
): Promise<Handled> {
  const headers = headersToForward(request);
  const result = await post(
    { url, headers, body: received, timeout: TIMEOUT_MS, insecure },
    signal,
  );
  const isPassedOn = result.kind === 'status' && !isWithheld(result.status);
  const forwarded: Forwarded = {
    url,
    response: describeResult(result),
    outcome: outcomeOf(result),
    ms: result.ms,
    warning: warningFor(result),
  };
  if (!isPassedOn) {
    const outcome = result.kind === 'status' ? 'response withheld' : 'not forwarded';
    const body = '{"outcome":"forwarding-failed"}';
    return {
      received,
      headers: JSON_TYPE,
      body,
      arrival: { ...arrival, status: 503, outcome, forwarded },
    };
  }
  const { status, body } = result;
  const { 'content-type': type } = result.headers;
  return {
    received,
    headers: type === undefined ? {} : { 'content-type': type },
    body,
    arrival: { ...arrival, status, outcome: 'forwarded', forwarded },
  };
}

function warningFor(result: PostResult): string | undefined {
  if (result.kind !== 'status' || !isWithheld(result.status)) return undefined;
  const why = result.status === 404 ? ', which would pause the rule at once' : '';
  return `The server responded ${String(result.status)}${why}. The service receives a 503 instead. Check that --forward-to is the final URL of the receiver.`;
}

const OF_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;

/** The headers to forward: all but those of the connection, with their case and repetitions. */
function headersToForward({ rawHeaders, headers }: IncomingMessage): Record<string, string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  // Without a prototype, because a header may be called `constructor`.
  const forwarded = Object.create(null) as Record<string, string[]>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (OF_CONNECTION.test(key) || named.has(key)) continue;
    (forwarded[name] ??= []).push(value);
  }
  return forwarded;
}

async function printArrival(
  { output }: App,
  arrival: Arrival,
  received: Uint8Array,
  withBody: boolean,
): Promise<void> {
  await output.print({ ...arrival, ...bodyRecord(received) }, (colors) => [
    ...arrivalLines(colors, arrival),
    ...(withBody ? bodyLines(received, 40).map((line) => t`  ${colors.dim(line)}`) : []),
  ]);
  const { bold, red } = output.messageColors;
  const { warning } = arrival.forwarded ?? {};
  if (warning !== undefined) output.warn(bold(red(warning)));
}

/** The body is parsed if it is JSON; otherwise it is text, or base64. */
function bodyRecord(received: Uint8Array): { body?: unknown; bodyBase64?: string } {
  const bytes = Buffer.from(received);
  if (!isUtf8(bytes)) return { bodyBase64: bytes.toString('base64') };
  const body = bytes.toString('utf8');
  try {
    return { body: JSON.parse(body) as unknown };
  } catch {
    return { body };
  }
}

function arrivalLines(colors: Colors, arrival: Arrival): Text[] {
  const { bold, cyan, dim, green, red, yellow } = colors;
  const { time, method, path, status, outcome, verified, problem, forwarded } = arrival;
  const { eventName = `${method} ${path}`, callId } = arrival;
  const paint = status < 300 ? green : status < 500 ? yellow : red;
  const head = [
    dim(timeOfDay(Date.parse(time))),
    bold(eventName),
    ...(callId === undefined ? [] : [dim(shortId(callId))]),
    verified ? green('verified') : red('not verified'),
    paint(status),
    outcome,
  ];
  return [
    join(head, '  '),
    ...(problem === undefined ? [] : [t`  ${yellow(problem)}`]),
    ...(forwarded ? [t`  ${cyan('→')} ${forwardedText(colors, forwarded)}`] : []),
  ];
}

/** The address of the app, and what it responded: a receiver also names the outcome. */
const forwardedText = ({ dim }: Colors, { url, response, outcome, ms }: Forwarded): Text =>
  join(
    [
      text(url),
      text(outcome === undefined ? response : `${response} ${outcome}`),
      dim(duration(ms)),
    ],
    '  ',
  );
