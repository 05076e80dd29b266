import { RedirectError } from '../errors/index.ts';
import { isSafeTransport } from '../base-url.ts';
import { describe, type RequestSpec } from './request.ts';

const statuses = new Set([301, 302, 303, 307, 308]);

/** What decides whether a redirect may be followed. */
export interface RedirectRules {
  readonly baseUrl: URL;
  readonly allowInsecure: boolean;
  readonly token: string;
}

function parseLocation(location: string, from: URL): URL | undefined {
  try {
    return new URL(location, from);
  } catch {
    return undefined;
  }
}

function refusal(
  spec: RequestSpec,
  status: number,
  next: URL,
  rules: RedirectRules,
): string | undefined {
  const foreign = next.origin !== rules.baseUrl.origin;
  if (spec.method !== 'GET' && (foreign || status < 307)) {
    return 'a write is only redirected with status 307 or 308, within the configured origin';
  }
  // A redirect from https to plain http is never followed, not even to loopback.
  const downgrade = rules.baseUrl.protocol === 'https:' && next.protocol !== 'https:';
  if ((downgrade && !rules.allowInsecure) || !isSafeTransport(next, rules.allowInsecure)) {
    return 'its target is not https';
  }
  if (next.username !== '' || next.password !== '') return 'its target holds credentials';
  if ([rules.token, encodeURIComponent(rules.token)].some((form) => next.href.includes(form))) {
    return 'its target holds the API token';
  }
  return undefined;
}

/** Cancels a body that nobody will read, to free its connection. */
export function discard(response: Response): void {
  void response.body?.cancel().catch(() => undefined);
}

/**
 * Returns the target of a redirect, or undefined if the response is not a redirect.
 *
 * @param left how many more redirects may be followed
 * @throws {RedirectError} for a redirect that must not or cannot be followed. The message does not
 * name the target, which may hold signatures or personal data.
 */
export function redirectTarget(
  response: Response,
  spec: RequestSpec,
  from: URL,
  rules: RedirectRules,
  left: number,
): URL | undefined {
  const stop = (why: string): RedirectError => {
    discard(response);
    const message = `${describe(spec)}: a redirect was not followed, because ${why}`;
    return new RedirectError(message, response.status);
  };
  if (response.type === 'opaqueredirect') throw stop('this runtime hides its target');
  // The token has been sent already, but the user should know.
  if (response.redirected)
    throw stop('the given fetch follows redirects itself, and sends the token along');
  if (!statuses.has(response.status)) return undefined;
  const location = response.headers.get('location');
  if (location === null) return undefined;
  if (left <= 0) throw stop('there were too many');
  const next = parseLocation(location, from);
  if (next === undefined) throw stop('its target is not a URL');
  const why = refusal(spec, response.status, next, rules);
  if (why !== undefined) throw stop(why);
  return next;
}
