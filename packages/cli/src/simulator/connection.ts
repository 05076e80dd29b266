import * as http from 'node:http';
import type { WebhookEventSummary, WebhookEventView } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import type { CliError } from '../errors.ts';
import { badInput, environmentError } from '../errors.ts';
import { isLoopback } from '../input/target.ts';
import type { Io } from '../io.ts';

/** The port that `simulate` uses by default, and where other commands look for it. */
export const DEFAULT_PORT = 4777;
const SIMULATOR_VARIABLE = 'CALL_WEBHOOKS_SIMULATOR';

/** The flags of every command that uses a running simulator. */
export interface SimulatorOptions {
  readonly simulator?: string;
}

/** Adds `--simulator`. */
export const withSimulatorOption = (command: Command): Command =>
  command.option(
    '--simulator <url>',
    `the running simulator (default: $${SIMULATOR_VARIABLE} or port ${String(DEFAULT_PORT)})`,
  );

/** The control API of a running simulator. */
export interface Connection {
  readonly url: string;
  readonly signal: AbortSignal;
  get<T>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
  /** The stream of server-sent events. */
  stream(): Promise<ReadableStream<Uint8Array>>;
}

/** Connects to the simulator that the flags or the environment name. */
export function simulatorOf(
  app: App,
  { simulator }: SimulatorOptions,
  until: AbortSignal = app.signal,
): Connection {
  useProxies(app);
  return connect(simulatorUrl(app.io, simulator), until);
}

export const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'];

/**
 * Lets requests go through the proxy of the environment, as curl does, but never those to this
 * machine. Current versions of Node can do it; where it can't, the error of the client says what to do.
 */
export function useProxies({ io: { env } }: App): void {
  if (!PROXY_VARIABLES.some((name) => env[name])) return;
  const hosts = [env['no_proxy'] || env['NO_PROXY'], 'localhost', '127.0.0.1', '[::1]'];
  const list = hosts.filter((host) => host).join(',');
  // A Node that was told to use proxies reads it for each request.
  process.env['no_proxy'] = process.env['NO_PROXY'] = list;
  const set: unknown = Reflect.get(http, 'setGlobalProxyFromEnv');
  if (typeof set === 'function')
    Reflect.apply(set, http, [{ ...env, no_proxy: list, NO_PROXY: list }]);
}

/** @throws CliError 2 for a URL of another machine */
function simulatorUrl({ env }: Io, given: string | undefined): string {
  const url = given ?? (env[SIMULATOR_VARIABLE] || `http://127.0.0.1:${String(DEFAULT_PORT)}`);
  const whole = /^\d+$/.test(url) ? `http://127.0.0.1:${url}` : url;
  const parsed = URL.canParse(whole) ? new URL(whole) : undefined;
  if (parsed?.protocol !== 'http:' || !isLoopback(parsed.hostname))
    throw badInput(
      `${url} is not a simulator: a simulator runs only on this machine.`,
      'Examples: --simulator http://127.0.0.1:4777, --simulator 4777',
    );
  return parsed.origin;
}

/** @param url the simulator's origin */
export function connect(url: string, signal: AbortSignal): Connection {
  async function request<T>(
    method: string,
    path: string,
    body: unknown,
    read: (response: Response) => Promise<T> | T,
  ): Promise<T> {
    const late = new AbortController();
    // The clock responds when it has advanced, which may take long.
    const limit = path.startsWith('/clock/') ? undefined : RESPOND_WITHIN_MS;
    const timer = limit && setTimeout(() => late.abort(), limit);
    try {
      return await read(await respond(method, path, body, AbortSignal.any([signal, late.signal])));
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) throw silent(url);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
  async function respond(
    method: string,
    path: string,
    body: unknown,
    end: AbortSignal,
  ): Promise<Response> {
    const response = await fetch(`${url}/_sim${path}`, {
      method,
      signal: end,
      redirect: 'error',
      ...(method !== 'GET' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      }),
    }).catch((error: unknown) => {
      end.throwIfAborted();
      const { code = 'no HTTP' } = ((error as Error).cause ?? {}) as { code?: string };
      throw environmentError(
        `No simulator is running at ${url} (${code}).`,
        'Start one in another terminal: npx call-webhooks simulate --forward-to URL',
      );
    });
    if (response.ok) return response;
    throw await refusal(response, url);
  }
  const json = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    try {
      return await request(method, path, body, async (response) => (await response.json()) as T);
    } catch (error) {
      if ((error as Error).name !== 'SyntaxError') throw error;
      throw notASimulator(url);
    }
  };
  return {
    url,
    signal,
    get: (path, query = {}) => json('GET', path + queryString(query)),
    post: (path, body) => json('POST', path, body),
    patch: (path, body) => json('PATCH', path, body),
    async delete(path) {
      await request('DELETE', path, undefined, () => undefined);
    },
    async stream() {
      const { body } = await request('GET', '/stream', undefined, (response) => response);
      if (!body) throw notASimulator(url);
      return body;
    },
  };
}

/** How long a simulator may take for a response, in milliseconds. */
const RESPOND_WITHIN_MS = 10_000;

const silent = (url: string) =>
  environmentError(
    `The server at ${url} did not respond within ${String(RESPOND_WITHIN_MS / 1_000)} s.`,
    'Check that this is a simulator, or pass the address of yours: --simulator http://127.0.0.1:PORT',
  );

const notASimulator = (url: string) =>
  environmentError(
    `The server at ${url} is not a simulator.`,
    'Pass the address of yours: --simulator http://127.0.0.1:PORT',
  );

function queryString(query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.append(name, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}

const SEE_LISTS = 'List what exists: npx call-webhooks rules list, npx call-webhooks events list';
/** By codes of the simulator. What else it refuses is an input, and what else fails is its own fault. */
const FIXES: Readonly<Record<string, string>> = {
  'external-target': 'Start the simulator with --allow-external.',
  'not-found': SEE_LISTS,
  conflict: SEE_LISTS,
  'forbidden-host': 'Pass its address with a number: --simulator http://127.0.0.1:PORT',
};
const CHECK_INPUT = 'Correct this value. For all options, add --help to the command.';
const START_AGAIN =
  'Start the simulator again, and then run this command again. If it keeps failing, report it as a bug.';

async function refusal(response: Response, url: string): Promise<CliError> {
  const body = (await response.json().catch(() => undefined)) as
    { error?: { code?: string; message?: string } } | undefined;
  const { code, message } = body?.error ?? {};
  if (code === undefined || message === undefined) return notASimulator(url);
  return response.status < 500
    ? badInput(message, FIXES[code] ?? CHECK_INPUT)
    : environmentError(message, START_AGAIN);
}

/** Finds an event by its id or the beginning of it. @throws CliError 2 unless there is one */
export async function findEvent(connection: Connection, id: string): Promise<WebhookEventView> {
  const all = await connection.get<WebhookEventSummary[]>('/events', { limit: 1_000_000 });
  return connection.get<WebhookEventView>(`/events/${onlyMatch('event', id, all)._id}`);
}

/** The only record whose id is this or begins so. @throws CliError 2 unless there is one */
export function onlyMatch<T extends { readonly _id: string }>(
  noun: 'rule' | 'action' | 'event',
  id: string,
  all: readonly T[],
): T {
  const [only, ...others] = all.filter(({ _id }) => id !== '' && _id.startsWith(id));
  if (!only) throw badInput(`There is no ${noun} ${id}.`, SEE_LISTS);
  if (others.length > 0)
    throw badInput(
      `${String(others.length + 1)} ids begin with ${id}.`,
      'Give more characters of the id.',
    );
  return only;
}

/** Whether nothing more will be sent, at least not until somebody resumes its rule. */
export const isFinished = ({ state }: Pick<WebhookEventSummary, 'state'>): boolean =>
  state !== 'waiting' && state !== 'in-flight';

/** Whether there is a response, or there will be none: the rule is paused. */
export const wasAttempted = (event: WebhookEventSummary): boolean =>
  isFinished(event) || event.attempts.some(({ response }) => response !== undefined);
