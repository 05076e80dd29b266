import { CliError, badInput, environment } from '../cli-error.ts';
import { EXIT } from '../exit.ts';

/** The control API of a running simulator. */
export interface Connection {
  readonly url: string;
  readonly signal: AbortSignal;
  get<T>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  /** The stream of server-sent events. */
  stream(): Promise<ReadableStream<Uint8Array>>;
}

/** @param url the simulator's origin */
export function connect(url: string, signal: AbortSignal): Connection {
  async function request(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${url}/_sim${path}`, {
      method,
      signal,
      redirect: 'error',
      ...(method !== 'GET' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      }),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      const { code = 'no HTTP' } = ((error as Error).cause ?? {}) as { code?: string };
      throw environment(
        `No simulator answers at ${url} (${code}).`,
        'Start one in another terminal: call-webhooks simulate --forward-to URL',
      );
    });
    if (response.ok) return response;
    throw await refusal(response, url);
  }
  const json = async <T>(answer: Promise<Response>): Promise<T> => {
    try {
      return (await (await answer).json()) as T;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw notASimulator(url);
    }
  };
  return {
    url,
    signal,
    get: (path, query = {}) => json(request('GET', path + queryOf(query))),
    post: (path, body) => json(request('POST', path, body)),
    patch: (path, body) => json(request('PATCH', path, body)),
    async stream() {
      const { body } = await request('GET', '/stream');
      if (!body) throw notASimulator(url);
      return body;
    },
  };
}

const notASimulator = (url: string) =>
  environment(
    `What answers at ${url} is no simulator.`,
    'Name its address: --simulator http://127.0.0.1:PORT',
  );

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.append(name, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}

async function refusal(response: Response, url: string): Promise<CliError> {
  const body = (await response.json().catch(() => undefined)) as
    { error?: { code?: string; message?: string } } | undefined;
  const { code, message } = body?.error ?? {};
  if (code === undefined || message === undefined) return notASimulator(url);
  if (code === 'external-target')
    return badInput(message, 'Start the simulator with --allow-external.');
  return new CliError(response.status < 500 ? EXIT.badInput : EXIT.environment, message);
}
