import { type OutcomeCode, OUTCOMES, sign } from '@call-webhooks/core';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, CliError, EXIT } from '../errors.ts';
import { outcomeOf, requireReached } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { duration } from '../terminal/format.ts';
import { askSecret } from '../terminal/prompts.ts';
import { requiredSecrets, type SecretOptions, withSecretOptions } from './secrets.ts';
import { durationOption } from './time.ts';

/** Whether a host name is this machine, whatever a name server says. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
  hostname === '[::1]';

/** Adds `--allow-external`. */
export const withExternalOption = (command: Command): Command =>
  command.option('--allow-external', 'allow requests to other machines');

/** The flags of commands that post to a receiver. */
export interface ReceiverOptions {
  readonly allowExternal?: boolean;
  readonly insecure?: boolean;
}

/** Adds `--allow-external` and `--insecure`. */
export const withReceiverOptions = (command: Command): Command =>
  withExternalOption(command).option(
    '-k, --insecure',
    'accept any TLS certificate of the receiver',
  );

/**
 * Parses the URL of a receiver. Short forms such as `localhost:3000/hook` and `3000/hook` work too.
 * @throws CliError 2 for other protocols, and for another machine unless it is allowed
 */
export function targetUrl(given: string, allowExternal = false): string {
  const whole = /^\d{1,5}(?:\/|$)/.test(given)
    ? `http://127.0.0.1:${given}`
    : /^[\w.-]+:\d{1,5}(?:\/|$)|^\[[\da-f:]+\]/i.test(given)
      ? `http://${given}`
      : given;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw badInput(`Invalid URL: ${given}`, 'Example: http://127.0.0.1:3000/hook');
  if (url.username !== '' || url.password !== '')
    throw badInput('The URL must not contain a user name or password.', 'Remove it from the URL.');
  if (!allowExternal && !isLoopback(url.hostname))
    throw badInput(
      `${url.host} is not this machine.`,
      'To send to another machine, pass --allow-external.',
    );
  url.hash = '';
  return url.href;
}

/** The flags that say how a running receiver is reached, besides its URL. */
export interface TargetOptions extends SecretOptions, ReceiverOptions {
  readonly headerPrefix?: string;
  readonly timeout: number;
}

/** A running receiver, and how to sign for it. */
export interface Target {
  readonly url: string;
  readonly secret: string;
  readonly headerPrefix?: string | undefined;
  /** Whether any TLS certificate will do. */
  readonly insecure?: boolean | undefined;
  /** How long to wait for a response; milliseconds. */
  readonly timeout: number;
}

/** Adds the flags of {@link TargetOptions}. */
export const withTargetOptions = (command: Command): Command =>
  withReceiverOptions(
    withSecretOptions(
      command
        .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
        .addOption(
          durationOption('--timeout <duration>', 'how long to wait for a response', 31_000),
        ),
    ),
  );

/** The receiver at a URL. It asks for the secret if a person is there. @throws CliError 2 */
export async function targetOf(app: App, to: string, options: TargetOptions): Promise<Target> {
  const url = targetUrl(to, options.allowExternal);
  const ask = app.interactive ? () => askSecret(app, "The receiver's signing secret") : undefined;
  const [secret] = await requiredSecrets(app.io, options, ask);
  const { headerPrefix, insecure, timeout } = options;
  return { url, secret, headerPrefix, insecure, timeout };
}

/** How a running receiver answered a delivery. */
export interface Answer {
  readonly result: PostResult;
  /** Absent if there was no response, or something else than a receiver of ours responded. */
  readonly code: OutcomeCode | undefined;
}

/** What became of the event of a delivery. */
interface Ending {
  readonly code: OutcomeCode;
  /** For people. */
  readonly message: string;
}

const FAILED: readonly OutcomeCode[] = ['handler-failed', 'invalid-payload'];
/** Nobody can tell yet how the event ends: its handler may be running. */
const RUNNING: readonly OutcomeCode[] = ['deadline', 'in-progress'];

/**
 * Signs a body now and posts it to a running receiver. Ctrl-C waits for it: the receiver goes on anyway.
 * @param webhookId unlike the service's, which are UUIDs: the log of the receiver says by it who sends
 *   the event again
 */
export async function postSigned(
  body: Uint8Array,
  { url, timeout, secret, headerPrefix, insecure }: Target,
  webhookId: string,
): Promise<Answer> {
  const signature = await sign({ secret, body, headerPrefix, webhookId });
  const headers = { 'Content-Type': 'application/json', ...signature };
  const result = await post(
    { url, headers, body, timeout, insecure },
    new AbortController().signal,
  );
  return { result, code: outcomeOf(result) };
}

/** Whether the receiver is done with the event. */
export const isTaken = ({ code }: Answer): boolean =>
  code !== undefined && OUTCOMES[code].service === 'acknowledged';

/** Whether its handler may still be running. */
export const mayBeRunning = ({ code, result }: Answer): boolean =>
  (code !== undefined && RUNNING.includes(code)) || result.kind === 'timeout';

/**
 * What became of the event.
 * @param reassurance added to what the user can do, such as `No dead letter was lost.`
 * @throws CliError if the receiver was not reached or took nothing: other events would end alike
 */
export function endingOf(answer: Answer, { url, timeout }: Target, reassurance: string): Ending {
  const { result, code } = answer;
  requireReached(url, result);
  if (result.kind === 'timeout')
    return { code: 'deadline', message: `There was no response in ${duration(timeout)}.` };
  if (result.kind === 'connection-error')
    return {
      code: 'deadline',
      message: `The connection broke before there was a response (${result.code}).`,
    };
  const message = `The receiver returned ${String(result.status)} ${code ?? 'without an outcome'}.`;
  if (code && FAILED.includes(code))
    return { code, message: `${message} The error is in its log.` };
  if (code && (isTaken(answer) || mayBeRunning(answer))) return { code, message };
  throw new CliError(EXIT.attention, message, `${fixOf(code, result.status)} ${reassurance}`);
}

/** What is wrong with the flags, where they may be the reason. */
const FLAGS: Partial<Record<OutcomeCode, string>> = {
  'signature-mismatch': 'Check --secret.',
  'missing-header': 'Check --header-prefix.',
};

function fixOf(code: OutcomeCode | undefined, status: number): string {
  if (code !== undefined) return FLAGS[code] ?? OUTCOMES[code].fix;
  if (status === 401) return 'Check --secret.';
  return status >= 500
    ? "Read the receiver's log, and that of the proxy in front of it."
    : "Check that --to is the receiver's path.";
}
