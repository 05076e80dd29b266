import {
  verify as verifySignature,
  type VerifyOptions as SignatureOptions,
  WebhookError,
  type WebhookErrorCode,
  type HeadersLike,
  type Verified,
} from '@call-webhooks/core';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { headerRecord, repeatable, wholeNumber } from '../input/options.ts';
import { readData, readText } from '../input/read.ts';
import { requiredSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { dateTime } from '../terminal/format.ts';
import { t } from '../terminal/text.ts';

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
    .option('-d, --data <text|@file|->', 'the raw body', '-')
    .option('-H, --header <header>', 'a header of the request; repeatable', repeatable)
    .option('--headers <file>', 'a file of headers, one per line, as printed by `sign`')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option(
      '--tolerance <seconds>',
      'the maximum age of the signature; raise it for old deliveries',
      wholeNumber('--tolerance', 0, 86_400 * 3_650),
      300,
    );
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['verify --headers headers.txt --data @body.json', 'Does the signature match?'],
        ['verify --headers head.txt --data @body --tolerance 999999', 'Allow any age'],
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
  const result = await checkSignature(
    { headers, body },
    { secret, headerPrefix, toleranceSeconds },
  );
  await output.print(result, ({ dim, green, red, yellow }) => {
    if (result.verified)
      return t`${green('verified')}  signed ${dateTime(result.timestamp)}  ${dim(result.webhookId)}`;
    const { code, message, cause } = result;
    return [
      t`${red(code)}  ${message}`,
      ...(cause === undefined ? [] : [t`${yellow('cause:')} ${cause}`]),
    ];
  });
  return result.verified ? EXIT.done : EXIT.attention;
}

/** What was found out about a signature. */
type SignatureResult =
  | ({ readonly verified: true } & Verified)
  | {
      readonly verified: false;
      readonly code: WebhookErrorCode;
      readonly message: string;
      /** What changed the body on its way, if that is known. */
      readonly cause: string | undefined;
    };

/** @throws WebhookError for an invalid secret or header prefix, which the user has to fix */
export async function checkSignature(
  request: { readonly headers: HeadersLike; readonly body: Uint8Array },
  options: SignatureOptions,
): Promise<SignatureResult> {
  try {
    return { verified: true, ...(await verifySignature(request, options)) };
  } catch (error) {
    if (!(error instanceof WebhookError) || error.code.startsWith('invalid')) throw error;
    const { code, message } = error;
    const isMismatch = code === 'signature-mismatch';
    const cause = isMismatch ? await diagnose(request, options) : undefined;
    return { verified: false, code, message, cause };
  }
}

const readLines = async (path: string): Promise<string[]> =>
  (await readText(path, 'header file')).split(/\r?\n/).filter((line) => line.trim() !== '');

/** Common changes to a body on its way, and how to undo each. */
const CHANGES: readonly (readonly [what: string, undo: (body: Buffer) => Buffer | undefined])[] = [
  [
    'a line feed was added at the end of the body, for example by echo or an editor',
    (body) => (body.at(-1) === 0x0a ? body.subarray(0, body.at(-2) === 0x0d ? -2 : -1) : undefined),
  ],
  [
    'the line feed at the end of the body was removed',
    (body) => Buffer.concat([body, Buffer.from('\n')]),
  ],
  [
    'a byte order mark was added at the start of the body',
    (body) => (body.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? body.subarray(3) : undefined),
  ],
  [
    'the body was parsed and written again with spaces: use the raw bytes',
    (body) => serializedAgain(body, (value) => JSON.stringify(value)),
  ],
  [
    'the body was parsed and written again without its spaces: use the raw bytes',
    (body) => serializedAgain(body, (value) => JSON.stringify(value, undefined, 2)),
  ],
  [
    'the line endings of the body were changed to CR LF',
    (body) => Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  ],
];

function serializedAgain(body: Buffer, write: (value: unknown) => string): Buffer | undefined {
  try {
    return Buffer.from(write(JSON.parse(body.toString('utf8'))));
  } catch {
    return undefined;
  }
}

/** Finds the change to the body that explains a signature mismatch, if it is a common one. */
async function diagnose(
  { headers, body }: { headers: HeadersLike; body: Uint8Array },
  options: SignatureOptions,
): Promise<string | undefined> {
  const bytes = Buffer.from(body);
  for (const [what, undo] of CHANGES) {
    const original = undo(bytes);
    if (!original || original.equals(bytes)) continue;
    const matches = await verifySignature({ headers, body: original }, options).then(
      () => true,
      () => false,
    );
    if (matches) return what;
  }
  return undefined;
}
