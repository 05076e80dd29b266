import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../rules/rules.ts';

/** A request that is refused before it reaches a route. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/**
 * Keeps out other web pages that are open in a browser on this machine.
 * `Host` reveals a page whose name was made to resolve to loopback (DNS rebinding). `Origin` reveals
 * a page of another origin, which also cannot send JSON without a preflight request. `Sec-Fetch-Site`
 * reveals what such a page loads without an `Origin`, an image for example: browsers send it, and
 * pages cannot set it. Links to the inspector may come from anywhere.
 */
export function guard(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, headers }) => {
    checkHost(headers);
    checkOrigin(headers);
    // DELETE has no body, and a page of another origin cannot send it without a preflight request.
    const hasBody = !['GET', 'HEAD', 'DELETE'].includes(method);
    if (hasBody && !/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
      throw new Refusal(415, 'unsupported-media-type', 'Send content-type: application/json.');
  });
}

function checkHost({ host }: FastifyRequest['headers']): void {
  const url = `http://${String(host)}`;
  if (host !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname)) return;
  throw new Refusal(
    403,
    'forbidden-host',
    'The Host header must name loopback: localhost, 127.0.0.1 or [::1].',
  );
}

function checkOrigin(headers: FastifyRequest['headers']): void {
  const { host, origin } = headers;
  const followsLink = headers['sec-fetch-mode'] === 'navigate';
  const foreign = !OWN_SITES.includes(headers['sec-fetch-site']) && !followsLink;
  if (foreign || (origin !== undefined && origin !== `http://${String(host)}`))
    throw new Refusal(403, 'forbidden-origin', 'Pages of other origins have no access.');
}
