/** An error of a page's API, with a message for the user. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A request to the server that serves the page. */
export interface JsonRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** What the user reads when there is no response. */
  readonly unreachable?: string;
}

/**
 * Sends a request and reads the JSON of its response. An error response has the shape
 * `{ error: { code, message } }`.
 * @throws ApiError with the message of the response, or `unreachable`
 */
export async function callJson<Body>(request: JsonRequest): Promise<Body> {
  const { response, text } = await reach(request);
  const body = parsed(text);
  if (response.ok) return body as Body;
  const { error } = (body ?? {}) as { error?: { code?: string; message?: string } };
  throw new ApiError(
    error?.code ?? String(response.status),
    error?.message ?? `The server returned ${String(response.status)}.`,
  );
}

/** The response and its whole body. @throws ApiError `unreachable`, or the reason of the signal */
async function reach({ method = 'GET', url, body, headers, signal, unreachable }: JsonRequest) {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...(method !== 'GET' && { 'content-type': 'application/json' }), ...headers },
      ...(method !== 'GET' && { body: body === undefined ? '' : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return { response, text: await response.text() };
  } catch {
    signal?.throwIfAborted();
    const message = unreachable ?? 'The server cannot be reached. Is it still running?';
    throw new ApiError('unreachable', message);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the user reads about an error. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : `The page failed: ${String(error)}`;
