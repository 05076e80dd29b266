import { createClient, version, type Client } from '@call-webhooks/client';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, didYouMean } from '../errors.ts';
import { repeatable } from '../input/options.ts';
import { readBytes } from '../input/read.ts';
import { isLoopback } from '../input/target-url.ts';

export const BASE_URL_VARIABLE = 'CALL_WEBHOOKS_BASE_URL';
export const TOKEN_VARIABLE = 'CALL_WEBHOOKS_API_TOKEN';

/** The flags of every command that uses the REST API. */
export interface ServiceOptions {
  readonly baseUrl?: string;
  readonly apiToken?: string;
  readonly apiTokenFile?: string;
  readonly wire?: readonly string[];
}

/** Adds `--base-url`, `--api-token`, `--api-token-file` and `--wire`. */
export const withServiceOptions = (command: Command): Command =>
  command
    .option('--base-url <url>', `the service's URL without /v1 (or $${BASE_URL_VARIABLE})`)
    .option('--api-token <token>', `the API token; safer: $${TOKEN_VARIABLE} or a file`)
    .option('--api-token-file <file>', 'a file with the API token')
    .option('--wire <name=value>', 'a name that the spec does not show; repeatable', repeatable);

/** The service's URL, if it is given. */
export const givenBaseUrl = (
  { io: { env } }: App,
  { baseUrl }: ServiceOptions,
): string | undefined => baseUrl ?? (env[BASE_URL_VARIABLE] || undefined);

/** Creates a client for the service. @throws CliError 2 when the URL or the token is missing */
export async function serviceClient(app: App, options: ServiceOptions): Promise<Client> {
  const baseUrl = givenBaseUrl(app, options);
  if (baseUrl === undefined)
    throw badInput(
      "The service's URL is not given.",
      `Set ${BASE_URL_VARIABLE}, or pass --base-url. For the simulator: http://127.0.0.1:4777.`,
    );
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol === 'http:' && !isLoopback(url.hostname))
    throw badInput(`${url.origin} is plain http, which would expose the API token.`, 'Use https.');
  return createClient({
    baseUrl,
    apiToken: await requiredToken(app, options),
    wire: wireNames(options.wire),
    userAgent: `call-webhooks-cli/${version}`,
  });
}

const WIRE_NAMES = [
  'nextParam',
  'nextField',
  'hasNextField',
  'limitParam',
  'callsField',
  'secretField',
  'requestIdHeader',
];

/** Parses `--wire name=value`. @throws CliError 2 */
function wireNames(given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const [, name, value] = /^(\w+)=(\S+)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw badInput(
          `--wire ${pair} is not of the form name=value.`,
          'Example: callsField=items',
        );
      if (!WIRE_NAMES.includes(name))
        throw badInput(
          `There is no wire setting ${name}.`,
          didYouMean(name, WIRE_NAMES, `Settings: ${WIRE_NAMES.join(', ')}.`),
        );
      return [name, value];
    }),
  );
}

async function requiredToken(
  { io }: App,
  { apiToken, apiTokenFile }: ServiceOptions,
): Promise<string> {
  if (apiToken !== undefined && apiTokenFile !== undefined)
    throw badInput('--api-token and --api-token-file exclude each other.', 'Remove one of them.');
  const token =
    apiToken ??
    (apiTokenFile === undefined
      ? io.env[TOKEN_VARIABLE]
      : (await readBytes(apiTokenFile, 'token file')).toString('utf8').trim());
  if (token !== undefined && token !== '') return token;
  throw badInput('No API token is given.', `Set ${TOKEN_VARIABLE}, or pass --api-token-file FILE.`);
}
