import { type Client, createClient, version } from '@call-webhooks/client';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, CliError, environmentError, EXIT } from '../errors.ts';
import { namedValues, repeatable } from '../input/options.ts';
import { readText } from '../input/read.ts';
import { isLoopback } from '../input/target.ts';
import {
  type Connection,
  simulatorOf,
  type SimulatorOptions,
  useProxies,
  withSimulatorOption,
} from '../simulator/connection.ts';

export const BASE_URL_VARIABLE = 'CALL_WEBHOOKS_BASE_URL';
export const TOKEN_VARIABLE = 'CALL_WEBHOOKS_API_TOKEN';

/** The flags of every command that uses the REST API. */
export interface ServiceOptions extends SimulatorOptions {
  readonly baseUrl?: string;
  readonly apiToken?: string;
  readonly apiTokenFile?: string;
  readonly wire?: readonly string[];
}

/** Adds `--base-url`, `--api-token`, `--api-token-file`, `--wire` and `--simulator`. */
export const withServiceOptions = (command: Command): Command =>
  withSimulatorOption(command)
    .option('--base-url <url>', `the service's URL (or $${BASE_URL_VARIABLE})`)
    .option('--api-token <token>', `the API token; $${TOKEN_VARIABLE} or a file is safer`)
    .option('--api-token-file <file>', 'a file with the API token')
    .option(
      '--wire <name=value>',
      'a name that the service does not document, such as callsField=items; repeatable',
      repeatable,
    );

/** The service's URL, if it is given. With `--simulator` it is not used. */
export const givenBaseUrl = (
  { io: { env } }: App,
  { baseUrl, simulator }: ServiceOptions,
): string | undefined =>
  simulator === undefined ? (baseUrl ?? (env[BASE_URL_VARIABLE] || undefined)) : undefined;

/**
 * Creates a client for the service, or for the running simulator if no URL is given.
 * @throws CliError 2 when the token is missing, 3 when there is neither a URL nor a simulator
 */
export async function serviceClient(app: App, options: ServiceOptions): Promise<Client> {
  useProxies(app);
  const baseUrl = givenBaseUrl(app, options);
  if (baseUrl === undefined) return simulatorClient(simulatorOf(app, options), options);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol === 'http:' && !isLoopback(url.hostname))
    throw badInput(`${url.origin} is plain http, which would expose the API token.`, 'Use https.');
  return clientFor(baseUrl, await requiredToken(app, options), options);
}

/**
 * Creates a client for a running simulator, which tells its own API token.
 * @throws CliError 3 when none is running
 */
export async function simulatorClient(
  connection: Connection,
  options: ServiceOptions,
): Promise<Client> {
  try {
    const { apiToken } = await connection.get<{ apiToken: string }>('/api-token');
    return clientFor(connection.url, apiToken, options);
  } catch (error) {
    if (options.simulator !== undefined || !(error instanceof CliError)) throw error;
    if (error.exitCode !== EXIT.environment) throw error;
    throw environmentError(
      `The service's URL is not given. ${error.message}`,
      `Set ${BASE_URL_VARIABLE}, pass --base-url, or start a simulator: npx call-webhooks simulate`,
    );
  }
}

function clientFor(baseUrl: string, apiToken: string, { wire }: ServiceOptions): Client {
  const userAgent = `call-webhooks-cli/${version}`;
  return createClient({
    baseUrl,
    apiToken,
    wire: namedValues('--wire', WIRE_NAMES, wire),
    userAgent,
    timeout: RESPOND_WITHIN_MS,
  });
}

/** How long the service may take for a response. GETs are tried four times. */
const RESPOND_WITHIN_MS = 10_000;

/** Each with a name that a service may have for it. */
const WIRE_NAMES = {
  nextParam: 'cursor',
  nextField: 'paging.next',
  hasNextField: 'paging.hasMore',
  limitParam: 'pageSize',
  callsField: 'items',
  secretField: 'action.secret',
  requestIdHeader: 'x-trace-id',
};

async function requiredToken(
  { io }: App,
  { apiToken, apiTokenFile }: ServiceOptions,
): Promise<string> {
  if (apiToken !== undefined && apiTokenFile !== undefined)
    throw badInput('--api-token and --api-token-file cannot be combined.', 'Remove one of them.');
  const token =
    apiToken ??
    (apiTokenFile === undefined
      ? io.env[TOKEN_VARIABLE]
      : (await readText(apiTokenFile, 'token file')).trim());
  if (token !== undefined && token !== '') return token;
  throw badInput('No API token is given.', `Set ${TOKEN_VARIABLE}, or pass --api-token-file FILE.`);
}
