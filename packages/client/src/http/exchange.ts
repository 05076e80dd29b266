import { NetworkError } from '../errors/index.ts';
import type { FetchInit } from '../options.ts';
import type { Settings } from '../settings.ts';
import { orAbort, type Deadline } from './deadline.ts';
import { createRedactor, safeCause, type Redactor } from './redact.ts';
import { discard, redirectTarget } from './redirects.ts';
import { describe, type RequestSpec } from './request.ts';
import { provesNothingSent } from './retry.ts';

/** The response to one attempt, and a redactor that keeps the token out of errors about it. */
export interface ReceivedResponse {
  readonly response: Response;
  readonly redactor: Redactor;
}

function requestInit(
  settings: Settings,
  spec: RequestSpec,
  token: string | undefined,
  signal: AbortSignal,
): FetchInit {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': settings.userAgent,
    ...spec.headers,
  };
  if (token !== undefined) headers['x-api-token'] = token;
  const common = { method: spec.method, headers, redirect: 'manual', signal } as const;
  if (spec.body === undefined) return common;
  headers['content-type'] = 'application/json';
  return { ...common, body: JSON.stringify(spec.body) };
}

/**
 * Makes one attempt: reads the token, sends the request, and follows redirects. The token is sent to
 * the configured origin only. After a redirect to another origin it is left out for good, even if a
 * later redirect leads back.
 *
 * @throws {NetworkError | TimeoutError | RedirectError} and the reason of an abort
 */
export async function exchange(
  settings: Settings,
  spec: RequestSpec,
  attempt: number,
  deadline: Deadline,
): Promise<ReceivedResponse> {
  const token = await deadline.run('token', settings.readToken);
  const rules = { baseUrl: settings.baseUrl, allowInsecure: settings.allowInsecure, token };
  let url = spec.url;
  let trusted = url.origin === settings.baseUrl.origin;
  for (let redirects = 0; ; redirects++) {
    const target = url.href;
    const redactor = createRedactor([token, spec.url.search, url.search]);
    const notice = { method: spec.method, url: target, attempt, redirects, authenticated: trusted };
    await orAbort(Promise.resolve(settings.onRequest?.(notice)), deadline.signal);
    const init = requestInit(settings, spec, trusted ? token : undefined, deadline.signal);
    const response = await deadline
      .run('headers', async () => {
        spec.onSend?.();
        return settings.fetch(target, init);
      })
      .catch((error: unknown) => {
        if (deadline.signal.aborted) throw error;
        throw new NetworkError(`${describe(spec)}: no response`, {
          maybeSent: redirects > 0 || !provesNothingSent(error),
          cause: safeCause(error, redactor),
        });
      });
    const next = redirectTarget(response, spec, url, rules, settings.maxRedirects - redirects);
    if (next === undefined) return { response, redactor };
    discard(response);
    trusted &&= next.origin === settings.baseUrl.origin;
    url = next;
  }
}
