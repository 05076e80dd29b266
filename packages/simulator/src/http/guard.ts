import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../rules/target-url.ts';
import { errorAnswer, type ErrorAnswer } from './error-answer.ts';

interface Asked {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
  /** `Sec-Fetch-Site`, which browsers send and pages can't set. */
  readonly site?: string | undefined;
  /** `Sec-Fetch-Mode`. */
  readonly mode?: string | undefined;
}

const OWN_SITES: readonly (string | undefined)[] = [undefined, 'same-origin', 'none'];

/**
 * What keeps other web pages out, which a browser on this machine may have open.
 * A page of another name that was made to resolve to loopback (DNS rebinding) shows in `Host`; a
 * page that writes across origins shows in `Origin`, and can't send JSON without asking first. What it
 * loads without an `Origin` (an image, a script) shows in `Sec-Fetch-Site`; a link that is followed to
 * the inspector may come from anywhere.
 * @returns why a request is refused; `undefined` when it is not
 */
export function refusal(asked: Asked): ErrorAnswer | undefined {
  const { method, host, origin, contentType, site, mode } = asked;
  if (!isLocalHost(host))
    return errorAnswer(403, 'forbidden-host', 'The simulator answers to loopback names only.');
  const foreign = !OWN_SITES.includes(site) && mode !== 'navigate';
  if (foreign || (origin !== undefined && origin !== `http://${String(host)}`))
    return errorAnswer(403, 'forbidden-origin', 'Pages of other origins have no access.');
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && !/^application\/json\s*(?:;|$)/i.test(contentType ?? ''))
    return errorAnswer(415, 'unsupported-media-type', 'Send content-type: application/json.');
  return undefined;
}

function isLocalHost(host: string | undefined): boolean {
  const url = `http://${String(host)}`;
  return host !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** Puts the guard before everything that the server does. */
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
