import { RedirectError } from '../errors/index.ts';
import { isSafeTransport } from '../base-url.ts';
import { describe, type RequestSpec } from './request.ts';

const statuses = new Set([301, 302, 303, 307, 308]);

/** What a redirect may lead to depends on these. */
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
    return 'a write is followed only with status 307 or 308, on the configured origin';
  }
  // From https on, plain http is never good enough, loopback or not.
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

/** Lets go of a body that nobody will read, so that its connection is free again. */
export function discard(response: Response): void {
  void response.body?.cancel().catch(() => undefined);
}

/**
 * Where a response redirects to; undefined when it does not.
 *
 * @param left how many more redirects may be followed
 * @throws {RedirectError} for a redirect that must not or cannot be followed. The message names no
 * target, which may hold signatures or personal data.
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
    const message = `${describe(spec)}: a redirect is not followed, ${why}`;
    return new RedirectError(message, response.status);
  };
  if (response.type === 'opaqueredirect') throw stop('this runtime hides where it leads');
  // Too late to keep the token back, but not too late to say it.
  if (response.redirected)
    throw stop('the fetch that was given follows them by itself, token and all');
  if (!statuses.has(response.status)) return undefined;
  const location = response.headers.get('location');
  if (location === null) return undefined;
  if (left <= 0) throw stop('there were too many before it');
  const next = parseLocation(location, from);
  if (next === undefined) throw stop('its target is not a URL');
  const why = refusal(spec, response.status, next, rules);
  if (why !== undefined) throw stop(why);
  return next;
}
