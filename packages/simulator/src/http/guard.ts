import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../rules/check-rule.ts';
import { errorAnswer, type ErrorAnswer } from './error-answer.ts';

interface IncomingRequest {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
  /** `Sec-Fetch-Site`. Browsers send it, and pages cannot set it. */
  readonly site?: string | undefined;
  /** `Sec-Fetch-Mode`. */
  readonly mode?: string | undefined;
}

const OWN_SITES: readonly (string | undefined)[] = [undefined, 'same-origin', 'none'];

/**
 * Keeps out other web pages that are open in a browser on this machine.
 * `Host` reveals a page whose name was made to resolve to loopback (DNS rebinding). `Origin` reveals
 * a page of another origin, which also cannot send JSON without a preflight request. `Sec-Fetch-Site`
 * reveals what such a page loads without an `Origin`, an image for example. Links to the inspector
 * may come from anywhere.
 * @returns the error response; `undefined` when the request is allowed
 */
export function refusal(incoming: IncomingRequest): ErrorAnswer | undefined {
  const { method, host, origin, contentType, site, mode } = incoming;
  if (!isLocalHost(host))
    return errorAnswer(
      403,
      'forbidden-host',
      'The Host header must name loopback: localhost, 127.0.0.1 or [::1].',
    );
  const foreign = !OWN_SITES.includes(site) && mode !== 'navigate';
  if (foreign || (origin !== undefined && origin !== `http://${String(host)}`))
    return errorAnswer(403, 'forbidden-origin', 'Pages of other origins have no access.');
  // DELETE has no body, and a page of another origin cannot send it without a preflight request.
  const hasBody = !['GET', 'HEAD', 'DELETE'].includes(method);
  if (hasBody && !/^application\/json\s*(?:;|$)/i.test(contentType ?? ''))
    return errorAnswer(415, 'unsupported-media-type', 'Send content-type: application/json.');
  return undefined;
}

function isLocalHost(host: string | undefined): boolean {
  const url = `http://${String(host)}`;
  return host !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** Applies `refusal` to every request. */
export function guard(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, headers }, reply) => {
    const refused = refusal({
      method,
      host: headers.host,
      origin: headers.origin,
      contentType: headers['content-type'],
      site: headers['sec-fetch-site'],
      mode: headers['sec-fetch-mode'],
    });
    return refused && reply.code(refused.status).send(refused.body);
  });
}
