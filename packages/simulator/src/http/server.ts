import { SearchSyntaxError } from '@call-webhooks/client';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AddressInfo } from 'node:net';
import { Refusal, SimulatorError, type SimulatorErrorCode } from '../errors.ts';
import { isLoopback } from '../rules/rules.ts';
import type { Simulation } from '../simulation.ts';
import { controlApi, type Session } from './control.ts';
import { restApi } from './rest.ts';

/** A listening server. */
export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a simulation over HTTP, on loopback only. Rejects as `listen` does. */
export async function serve(simulation: Simulation, session: Session): Promise<Server> {
  const app = fastify({ forceCloseConnections: true });
  guard(app);
  acceptJson(app);
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new Refusal(404, 'not-found', 'No route matches this request.')),
  );
  servePage(app);
  await app.register(async (scope) => restApi(scope, simulation, session.apiToken), {
    prefix: '/v1',
  });
  await app.register(async (scope) => controlApi(scope, simulation, session), { prefix: '/_sim' });
  await app.listen({ host: '127.0.0.1', port: simulation.settings.port });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
}

const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/**
 * Keeps out other web pages that are open in a browser on this machine.
 * `Host` reveals a page whose name was made to resolve to loopback (DNS rebinding). `Origin` reveals
 * a page of another origin, which also cannot send JSON without a preflight request. `Sec-Fetch-Site`
 * reveals what such a page loads without an `Origin`, an image for example: browsers send it, and
 * pages cannot set it. Links to the inspector may come from anywhere.
 */
function guard(app: FastifyInstance): void {
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

/** Accepts JSON bodies only. An empty body counts as none. */
function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
}

const STATUS: Readonly<Record<SimulatorErrorCode, number>> = {
  'invalid-input': 400,
  'external-target': 400,
  'not-found': 404,
  conflict: 409,
};

/** Responds to an error. The spec does not show the service's. Only known errors show their message. */
function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof SimulatorError)
    return reply.code(STATUS[error.code]).send(errorBody(error.code, error.message));
  if (error instanceof Refusal)
    return reply.code(error.status).send(errorBody(error.code, error.message));
  if (error instanceof SearchSyntaxError) {
    const { position, message } = error;
    return reply.code(400).send(errorBody('invalid-search', message, { position }));
  }
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return reply.code(status).send(errorBody('bad-request', (error as Error).message));
  return reply.code(500).send(errorBody('internal', 'The simulator failed. This is a bug.'));
}

const errorBody = (code: string, message: string, more: object = {}) => ({
  error: { code, message, ...more },
});

/**
 * Allows nothing inline, nothing from other hosts and no frame around the page.
 * `require-trusted-types-for` makes the browser refuse to parse text as HTML.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/**
 * Serves the inspector at `/` and its other files below `/_inspector/`. Browsers keep those for a year,
 * so their names contain a hash of their content.
 */
function servePage(app: FastifyInstance): void {
  const send = async (reply: FastifyReply, name: string, cache: string) => {
    // Loaded on first use: most simulators run in tests, where nobody opens the page.
    const { PAGE_FILES } = await import('../page-files.generated.ts');
    const file = PAGE_FILES.get(name);
    if (!file) throw new Refusal(404, 'not-found', 'The inspector has no such file.');
    const headers = { ...HEADERS, 'cache-control': cache, 'content-type': file.type };
    return reply.headers(headers).send(file.text);
  };
  app.get('/', (_request, reply) => send(reply, 'index.html', 'no-cache'));
  app.get<{ Params: { '*': string } }>('/_inspector/*', ({ params }, reply) =>
    send(reply, params['*'], 'public, max-age=31536000, immutable'),
  );
}
