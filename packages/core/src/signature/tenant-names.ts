import { isPending, settle } from '../awaitable.ts';
import type { TenantRequest } from '../http/tenant-request.ts';
import { withOrigin } from '../outcome/origin.ts';
import type { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact/error-text.ts';
import { isTenantName } from '../tenant.ts';

/**
 * Names the tenant that a request is for, from its path, host or headers. It is called for every
 * request, before anything is verified, and must not wait.
 *
 * `undefined`, `null` and texts that can be no name (they have 1 to 128 printable characters) mean
 * that there is no such tenant: the request is answered as a forgery, 401. If it throws, or returns
 * anything else, that is taken for a bug of yours: 503 `secret-unavailable`.
 * @example
 * tenant: ({ path }) => path.split('/')[2] // of /hooks/acme
 */
export type TenantOf = (request: TenantRequest) => string | null | undefined;

/** What is known of a tenant before its delivery is verified. */
export interface NamedTenant {
  readonly name?: string | undefined;
  readonly failure?: WebhookError | undefined;
}

/** `onError` gets a failure that strangers may cause once in this time; milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Makes a function that says whether a failure is to be reported, which is so once in 10 s. */
export function reportsRarely(): () => boolean {
  let reportedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - reportedAt < REPORT_INTERVAL_MS) return false;
    reportedAt = now;
    return true;
  };
}

/** Makes a function of the option `tenant` that never throws. */
export function safeTenantOf(tenantOf: TenantOf): (request: TenantRequest) => NamedTenant {
  const mayReport = reportsRarely();

  function failed(error: unknown): NamedTenant {
    const failure = redactedError('secret-unavailable', 'tenant failed: ', error);
    return { failure: mayReport() ? withOrigin(failure, { source: 'hook', error }) : failure };
  }

  return (request) => {
    try {
      const name: unknown = tenantOf(request);
      if (isTenantName(name)) return { name };
      if (name === undefined || name === null || typeof name === 'string') return {};
      if (isPending(name)) void settle(name, () => undefined);
      return failed(new TypeError('It must return a text, or undefined, at once.'));
    } catch (error) {
      return failed(error);
    }
  };
}
