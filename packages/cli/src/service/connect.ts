import { createClient, version, type Client } from '@call-webhooks/client';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { fileBytes } from '../input/read.ts';
import { isLoopback } from '../input/target-url.ts';

/** The flags of every command that talks to the service. */
export interface ServiceOptions {
  readonly baseUrl?: string;
  readonly apiToken?: string;
  readonly apiTokenFile?: string;
}

export const BASE_URL_VARIABLE = 'CALL_WEBHOOKS_BASE_URL';
export const TOKEN_VARIABLE = 'CALL_WEBHOOKS_API_TOKEN';

/** Adds `--base-url`, `--api-token` and `--api-token-file`. */
export const withServiceOptions = (command: Command): Command =>
  command
    .option('--base-url <url>', `the service, without /v1 (or $${BASE_URL_VARIABLE})`)
    .option('--api-token <token>', `API token (better: $${TOKEN_VARIABLE}, or a file)`)
    .option('--api-token-file <file>', 'file with the API token');

/** Where the service is, if that was said. */
export const baseUrlGiven = (
  { io: { env } }: App,
  { baseUrl }: ServiceOptions,
): string | undefined => baseUrl ?? (env[BASE_URL_VARIABLE] || undefined);

/** A client for the service. @throws CliError 2 that says what is missing, and where to put it */
export async function serviceClient(app: App, options: ServiceOptions): Promise<Client> {
  const baseUrl = baseUrlGiven(app, options);
  if (baseUrl === undefined)
    throw badInput(
      'Where is the service?',
      `Set ${BASE_URL_VARIABLE}, or pass --base-url. A simulator's is http://127.0.0.1:4777.`,
    );
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol === 'http:' && !isLoopback(url.hostname))
    throw badInput(
      `${url.origin} is plain http: the API token could be read on the way.`,
      'Use https.',
    );
  return createClient({
    baseUrl,
    apiToken: await tokenOf(app, options),
    userAgent: `call-webhooks-cli/${version}`,
  });
}

async function tokenOf({ io }: App, { apiToken, apiTokenFile }: ServiceOptions): Promise<string> {
  if (apiToken !== undefined && apiTokenFile !== undefined)
    throw badInput('--api-token and --api-token-file exclude each other.');
  const token =
    apiToken ??
    (apiTokenFile === undefined
      ? io.env[TOKEN_VARIABLE]
      : (await fileBytes(apiTokenFile, 'token file')).toString('utf8').trim());
  if (token !== undefined && token !== '') return token;
  throw badInput('There is no API token.', `Set ${TOKEN_VARIABLE}, or pass --api-token-file FILE.`);
}
