import { verify as verifySignature, WebhookError } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput, EXIT } from '../../errors.ts';
import { headerRecord, repeatable, wholeNumber } from '../../input/options.ts';
import { readData, readText } from '../../input/read.ts';
import { requiredSecrets, withSecretOptions, type SecretOptions } from '../../input/secrets.ts';
import { dateTime } from '../../terminal/format.ts';
import { t } from '../../terminal/text.ts';
import { diagnose } from './diagnose.ts';

interface VerifyOptions extends SecretOptions {
  readonly data: string;
  readonly header?: readonly string[];
  readonly headers?: string;
  readonly headerPrefix?: string;
  readonly tolerance: number;
}

/** `verify`: verifies a signature. */
export function verifyCommand(app: App, base: Command): Command {
  const command = base
    .option('-d, --data <text|@file|->', 'the raw body, byte for byte', '-')
    .option('-H, --header <header>', 'a header of the request; repeatable', repeatable)
    .option('--headers <file>', 'a file of headers, one per line, as printed by `sign`')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option(
      '--tolerance <seconds>',
      'the maximum age; raise it for old deliveries',
      wholeNumber('--tolerance', 0, 86_400 * 3_650),
      300,
    );
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['verify --headers headers.txt --data @body.json', 'Does the signature match?'],
        ['verify --headers headers.txt --data @body --tolerance 999999', 'At any age'],
      ),
    )
    .action(app.action((options: VerifyOptions) => verify(app, options)));
}

async function verify(app: App, options: VerifyOptions): Promise<number> {
  const { io, output } = app;
  const { headerPrefix, tolerance: toleranceSeconds } = options;
  const lines = options.headers === undefined ? [] : await readLines(options.headers);
  const headers = headerRecord([...lines, ...(options.header ?? [])]);
  if (Object.keys(headers).length === 0)
    throw badInput('No headers are given.', 'Pass --headers FILE, or each one with --header.');
  const secret = await requiredSecrets(io, options);
  const body = await readData(io, options.data, 'body');
  const settings = { secret, headerPrefix, toleranceSeconds };
  try {
    const verified = await verifySignature({ headers, body }, settings);
    const { timestamp, webhookId } = verified;
    await output.print(
      { verified: true, ...verified },
      ({ green, dim }) => t`${green('verified')}  signed ${dateTime(timestamp)}  ${dim(webhookId)}`,
    );
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof WebhookError) || error.code.startsWith('invalid')) throw error;
    const { code, message } = error;
    const cause =
      code === 'signature-mismatch' ? await diagnose({ headers, body }, settings) : undefined;
    await output.print({ verified: false, code, message, cause }, ({ red, yellow }) => [
      t`${red(code)}  ${message}`,
      ...(cause === undefined ? [] : [t`${yellow('cause:')} ${cause}`]),
    ]);
    return EXIT.receiverFailed;
  }
}

const readLines = async (path: string): Promise<string[]> =>
  (await readText(path, 'header file')).split(/\r?\n/).filter((line) => line.trim() !== '');
