import { isUtf8 } from 'node:buffer';
import { sign } from '@call-webhooks/core';
import { callCompleted, callRecordingAvailable, callStarted } from '@call-webhooks/testing';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import {
  describeResult,
  EFFECT_TEXT,
  effectOf,
  notOfReceiver,
  requireReached,
} from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { setFields } from '../input/fields.ts';
import { didYouMean, headerRecord, repeatable, wholeNumber } from '../input/options.ts';
import { decodeText, readData } from '../input/read.ts';
import { requiredSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { type ReceiverOptions, targetUrl, withReceiverOptions } from '../input/target.ts';
import { durationOption } from '../input/time.ts';
import type { Io } from '../io.ts';
import { bodyLines, duration } from '../terminal/format.ts';
import { askSecret } from '../terminal/prompts.ts';
import { type Colors, isPrintable, t, type Text } from '../terminal/text.ts';

interface SendOptions extends SecretOptions, ReceiverOptions {
  readonly to: string;
  readonly data?: string;
  readonly set?: readonly string[];
  readonly curl?: boolean;
  readonly header?: readonly string[];
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
  readonly timeout: number;
}

/** `send`: signs one delivery and sends it. */
export function sendCommand(app: App, base: Command): Command {
  const command = base
    .argument(
      '<event>',
      'call:started, call:completed or call:recording-available; any name with --data',
    )
    .requiredOption(
      '--to <url>',
      'the URL of the receiver; 3000/hook means http://127.0.0.1:3000/hook',
    )
    .option('-d, --data <text|@file|->', 'the body, sent unchanged (default: a sample)')
    .option('--set <path=json>', 'set a field of the body; repeatable', repeatable)
    .option('--curl', 'print a curl command instead; its signature is valid for 5 minutes')
    .option('-H, --header <header>', 'add a header; repeatable', repeatable)
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--webhook-id <id>', 'use this webhook id, to test replay protection')
    .option('--timestamp <seconds>', 'sign with this Unix time', wholeNumber('--timestamp', 1))
    .addOption(durationOption('--timeout <duration>', 'how long to wait for the response', 30_000));
  return withReceiverOptions(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Exit code 1 if the receiver does not acknowledge the event, and 3 if nothing
listens at the URL.
${examples(
  ['send call:completed --to 3000/hook --secret-file .secret', 'Send one event'],
  ['send call:started --to 3000/hook --set recipientName=null', 'Change a field'],
  ['send call:completed --to 3000/hook --data @event.json', 'Send the bytes of a file'],
  ['send call:completed --to 3000/hook --curl | sh', 'Send it with curl'],
)}`,
    )
    .action(app.action((event: string, options: SendOptions) => sendDelivery(app, event, options)));
}

async function sendDelivery(app: App, eventName: string, options: SendOptions): Promise<number> {
  const { io, output, signal } = app;
  const { insecure } = options;
  const url = targetUrl(options.to, options.allowExternal);
  const extraHeaders = headerRecord(options.header ?? []);
  const body = await bodyOf(io, eventName, options);
  const ask = app.interactive ? () => askSecret(app, "The receiver's signing secret") : undefined;
  const [secret] = await requiredSecrets(io, options, ask);
  const { headerPrefix, webhookId, timestamp, timeout } = options;
  const signature = await sign({ secret, body, headerPrefix, webhookId, timestamp });
  const headers = { 'Content-Type': 'application/json', ...extraHeaders, ...signature };
  if (options.curl) {
    const isFile = options.set === undefined && options.data?.startsWith('@');
    const file = isFile ? options.data?.slice(1) : undefined;
    const command = curlCommand(url, headers, body, file);
    if (output.json) await output.print({ command });
    else await output.write(`${command}\n`);
    return EXIT.done;
  }
  const result = requireReached(url, await post({ url, headers, body, timeout, insecure }, signal));
  const effect = effectOf(result);
  const response =
    result.kind === 'status' ? { ...result, body: result.body.toString('utf8') } : result;
  await output.print({ request: { url, headers }, response, effect }, (colors) =>
    resultLines(colors, result),
  );
  const foreign = notOfReceiver(url, result);
  if (foreign) output.warn(t`${foreign.when} ${foreign.fix}`);
  return effect === 'acknowledged' && !foreign ? EXIT.done : EXIT.attention;
}

function resultLines({ green, red, dim }: Colors, result: PostResult): Text[] {
  const effect = effectOf(result);
  const paint = effect === 'acknowledged' ? green : red;
  const head = t`${paint(describeResult(result))}  ${dim(duration(result.ms))}  ${EFFECT_TEXT[effect]}`;
  return [head, ...(result.kind === 'status' ? bodyLines(result.body, 20) : [])];
}

/**
 * The body of a delivery: the given bytes, or a sample of the event. With `--set`, JSON is parsed
 * and written again.
 * @throws CliError
 */
async function bodyOf(io: Io, eventName: string, { data, set = [] }: SendOptions): Promise<Buffer> {
  if (data !== undefined && set.length === 0) return readData(io, data);
  const fields = data === undefined ? sampleOf(eventName) : parseObject(await readData(io, data));
  return Buffer.from(JSON.stringify(setFields(fields, set)));
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decodeText(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw badInput('--set needs a JSON object, but the data is not one.', 'Remove --set.');
}

const SAMPLES: Readonly<Record<string, () => object>> = {
  'call:started': callStarted,
  'call:completed': callCompleted,
  'call:recording-available': callRecordingAvailable,
};

function sampleOf(eventName: string): Record<string, unknown> {
  const sample = Object.hasOwn(SAMPLES, eventName) ? SAMPLES[eventName] : undefined;
  if (sample) return { ...sample() };
  const names = Object.keys(SAMPLES);
  const suggestion = didYouMean(eventName, names, `Samples: ${names.join(', ')}.`);
  throw badInput(
    `There is no sample of ${eventName}.`,
    `${suggestion} For any other event, pass its body: --data @file`,
  );
}

/** Quotes a text for POSIX shells. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The curl command that sends exactly these bytes.
 * @param file holds the body, if curl can read it from there
 * @throws CliError 2 for a body that cannot be part of a command line, and is not in a file
 */
function curlCommand(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  file: string | undefined,
): string {
  const text = body.toString('utf8');
  if (file === undefined && !(isUtf8(body) && isPrintable(text)))
    throw badInput(
      'This body contains bytes that cannot be part of a command line.',
      'Save it to a file and pass --data @file.',
    );
  const lines = [
    // Without --globoff, curl expands brackets and braces in a URL.
    `curl --globoff --request POST ${shellQuote(url)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `--header ${shellQuote(`${name}: ${value}`)}`,
    ),
    file === undefined
      ? `--data-raw ${shellQuote(text)}`
      : `--data-binary ${shellQuote(`@${file}`)}`,
  ];
  return lines.join(' \\\n  ');
}

interface SignOptions extends SecretOptions {
  readonly data: string;
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
}

/** `sign`: prints the signature headers for a body. */
export function signCommand(app: App, base: Command): Command {
  const command = base
    .option('-d, --data <text|@file|->', 'the body', '-')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--webhook-id <id>', 'use this webhook id (default: a new UUID)')
    .option(
      '--timestamp <seconds>',
      'sign with this Unix time (default: now)',
      wholeNumber('--timestamp', 1),
    );
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['sign --data @event.json > headers.txt', 'For curl: -H @headers.txt'],
        [`sign --json < event.json`, 'As JSON'],
      ),
    )
    .action(
      app.action(async ({ data, headerPrefix, webhookId, timestamp, ...options }: SignOptions) => {
        const [secret] = await requiredSecrets(app.io, options);
        const body = await readData(app.io, data, 'body');
        const headers = await sign({ secret, body, headerPrefix, webhookId, timestamp });
        await app.output.print(headers, () =>
          Object.entries(headers).map(([name, value]) => t`${name}: ${value}`),
        );
        return undefined;
      }),
    );
}
