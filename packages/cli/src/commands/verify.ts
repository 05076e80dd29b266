import { verify as verifyDelivery, WebhookError } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { EXIT } from '../exit.ts';
import { headerRecord } from '../input/headers.ts';
import { collected, wholeNumber } from '../input/numbers.ts';
import { dataBytes, fileBytes } from '../input/read.ts';
import { secretsNeeded, withSecretOptions, type SecretOptions } from '../input/secrets.ts';
import { t } from '../terminal/text.ts';
import { diagnose } from '../verifying/diagnose.ts';

interface Options extends SecretOptions {
  readonly data: string;
  readonly header?: readonly string[];
  readonly headers?: string;
  readonly headerPrefix?: string;
  readonly tolerance: number;
}

export function verify(app: App): Command {
  const command = app
    .command('verify', 'Check a signature, and say why it does not match')
    .option('-d, --data <text|@file|->', 'the raw body, byte for byte', '-')
    .option('-H, --header <header>', 'a header of the request; repeatable', collected)
    .option('--headers <file>', 'a file of headers, as `sign` writes it')
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option(
      '--tolerance <seconds>',
      'how old it may be; raise it for deliveries of yesterday',
      wholeNumber('--tolerance', 0, 86_400 * 3_650),
      300,
    );
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['verify --headers headers.txt --data @body.json', 'Does this secret fit?'],
        ['verify --headers headers.txt --data @body.json --tolerance 999999', 'However old it is'],
      ),
    )
    .action(app.run((options: Options) => run(app, options)));
}

async function run(app: App, options: Options): Promise<number> {
  const { io, output } = app;
  const { headerPrefix, tolerance: toleranceSeconds } = options;
  const lines = options.headers === undefined ? [] : await linesOf(options.headers);
  const headers = headerRecord([...lines, ...(options.header ?? [])]);
  if (Object.keys(headers).length === 0)
    throw badInput('There are no headers to check.', 'Pass --headers FILE, or each with --header.');
  const secret = await secretsNeeded(io, options);
  const body = await dataBytes(io, options.data, 'body');
  const asked = { secret, headerPrefix, toleranceSeconds };
  try {
    const verified = await verifyDelivery({ headers, body }, asked);
    await output.show(
      { verified: true, ...verified },
      (ink) =>
        t`${ink.green('verified')}  signed ${verified.timestamp.toISOString()}  ${ink.dim(verified.webhookId)}`,
    );
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof WebhookError) || error.code.startsWith('invalid')) throw error;
    const { code, message } = error;
    const cause =
      code === 'signature-mismatch' ? await diagnose({ headers, body }, asked) : undefined;
    await output.show({ verified: false, code, message, cause }, (ink) => [
      t`${ink.red(code)}  ${message}`,
      ...(cause === undefined ? [] : [t`${ink.yellow('found:')} ${cause}`]),
    ]);
    return EXIT.receiverFailed;
  }
}

const linesOf = async (path: string): Promise<string[]> =>
  (await fileBytes(path, 'header file'))
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
