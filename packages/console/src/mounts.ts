import type * as NodeBodies from '@call-webhooks/core/node';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { invalid, RequestError, type Answer } from './http/answer.ts';
import { pathBelow, splitUrl, type MountedRequest } from './http/request.ts';

type Handle = (request: MountedRequest) => Promise<Answer>;

/** The most that a body may have; bytes. */
const MAX_BODY = 128 * 1024;

/** Handles requests of `node:http` and Express. */
export type NodeMount = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** What Express adds. It removes the path of the mount from `url`. */
type FrameworkRequest = IncomingMessage & {
  originalUrl?: string;
  baseUrl?: string;
  body?: unknown;
};

const BODY_TIMEOUT_MS = 10_000;

/** @param mount the path of the console where the framework does not know it */
export function nodeMount(handle: Handle, mount: string): NodeMount {
  return (request, response, next) => {
    if (!isNodeRequest(request) || !isNodeResponse(response))
      throw unknownForm('console', NODE_FORM);
    const { url = '/', originalUrl = url, baseUrl = '' } = request as FrameworkRequest;
    const below = baseUrl === '' ? mount : '';
    const path = pathBelow(below, splitUrl(url).path || '/');
    if (next && path === undefined) next();
    else if (next && isDelivery(request) && !isOwnPath(path)) passOn(response, next);
    else
      void answerNode(handle, request, response, { url, documentUrl: originalUrl, mount: below });
  };
}

const isNodeRequest = (given: unknown) =>
  typeof (given as Partial<IncomingMessage> | undefined)?.on === 'function' &&
  typeof (given as IncomingMessage).headers === 'object';

const isNodeResponse = (given: unknown) =>
  typeof (given as Partial<ServerResponse> | undefined)?.writeHead === 'function';

const NODE_FORM =
  "the request and the response of node:http or Express. In Koa, set the option path and use app.use((ctx, next) => ctx.path.startsWith('/ops/webhooks') ? ((ctx.respond = false), console(ctx.req, ctx.res)) : next()). In Fastify, register console.fastify. Everywhere else, use console.fetch(request)";
const FETCH_FORM =
  "fetch's Request. In SvelteKit pass event.request, in Hono c.req.raw; for node:http, Express and Koa call the console itself. A function that receives an event instead of a Request, as on AWS Lambda, needs an adapter that creates a Request";
const FASTIFY_FORM =
  "an instance of Fastify: app.register(console.fastify, { prefix: '/ops/webhooks' }). It is a plugin, not a handler";

/** What a framework passes that the console does not know must not end in a request that nobody answers. */
const unknownForm = (name: string, expected: string) =>
  new WebhookError('invalid-options', `${name} was not called with ${expected}.`, {
    docs: docsUrl('console.md#mounting'),
  });

const isOwnPath = (path = '/') => /^\/(?:$|(?:api|assets)(?:\/|$))/.test(path);

/**
 * A receiver that is mounted below the console gets its deliveries, whatever the order. If there is none,
 * Express would answer 404, which pauses the rule of the delivery.
 */
function passOn(response: ServerResponse, next: () => void): void {
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    if (status !== 404) return writeHead(status, ...rest);
    response.statusMessage = '';
    return writeHead(400, ...rest);
  };
  next();
}

/** Where a request is, for `answerNode`. */
interface NodePlace {
  /** Such as `request.url`. */
  readonly url: string;
  /** The URL in the browser. */
  readonly documentUrl: string;
  /** What `url` has before the console's own path. */
  readonly mount: string;
  /** What `authorize` gets; the request by default. */
  readonly raw?: unknown;
}

/** Answers a request of `node:http`. Never rejects. */
async function answerNode(
  handle: Handle,
  request: IncomingMessage,
  response: ServerResponse,
  { url, documentUrl, mount, raw = request }: NodePlace,
): Promise<void> {
  try {
    // Not at the top: the bundle of a fetch server would need CommonJS, which raw-body is.
    const { discardRest, readRawBody } = await import('@call-webhooks/core/node');
    const { path, query } = splitUrl(url);
    const { method = 'GET' } = request;
    const answer = await handle({
      method,
      path: pathBelow(mount, path || '/') ?? '/elsewhere',
      query,
      headers: headersOf(request),
      documentPath: splitUrl(documentUrl).path,
      raw,
      body: () => readNodeJson(request, readRawBody),
    });
    if (response.headersSent || response.destroyed) return;
    const length = String(Buffer.byteLength(answer.body));
    response.writeHead(answer.status, { ...answer.headers, 'content-length': length });
    response.end(method === 'HEAD' ? undefined : answer.body);
    discardRest(request);
  } catch {
    // Of an unusual server. Nobody waits for this promise, so it would end the process.
    if (!response.headersSent) response.statusCode = 500;
    response.end();
  }
}

/** Whether it has the headers that only the service sends. */
const isDelivery = ({ method, headers }: IncomingMessage): boolean =>
  method === 'POST' &&
  ['webhook-id', '-signature'].every((end) =>
    Object.keys(headers).some((name) => name.endsWith(end)),
  );

/** HTTP/2 has names with a colon, and no list of distinct headers. */
function headersOf({ headers: given }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(given)) {
    const known = name === ':authority' ? 'host' : name;
    if (known.startsWith(':')) continue;
    for (const value of [values].flat()) headers.append(known, value);
  }
  return headers;
}

/** @throws RequestError `body-too-large`, `invalid-request` */
async function readNodeJson(
  request: FrameworkRequest,
  readRawBody: typeof NodeBodies.readRawBody,
): Promise<unknown> {
  // A parser before the console, such as express.json(), has a limit of its own.
  const { body } = request;
  const isParsed = typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
  if (isParsed && request.readableDidRead) return body;
  try {
    const limits = { bodyLimit: MAX_BODY, bodyTimeout: BODY_TIMEOUT_MS };
    return parseJson(Buffer.from(await readRawBody(request, limits)).toString());
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof WebhookError && error.code === 'body-too-large') throw tooLarge();
    throw invalid('the body could not be read');
  }
}

/** Answers fetch's `Request`. */
export type FetchMount = (request: Request) => Promise<Response>;

/** @param mount the path of the console, without a slash at its end */
export function fetchMount(handle: Handle, mount: string): FetchMount {
  return async (request) => {
    if (!isFetchRequest(request)) throw unknownForm('console.fetch', FETCH_FORM);
    const { method, headers } = request;
    const { path, query } = splitUrl(request.url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, ''));
    const answer = await handle({
      method,
      // Of another path, no route is found.
      path: pathBelow(mount, path) ?? '/elsewhere',
      query,
      headers,
      documentPath: path,
      raw: request,
      body: () => readJson(request),
    });
    const body = method === 'HEAD' ? null : answer.body;
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

const isFetchRequest = (given: unknown) =>
  typeof (given as Partial<Request> | undefined)?.url === 'string' &&
  typeof (given as Partial<Request>).headers?.get === 'function';

/** @throws RequestError `body-too-large`, `invalid-request` */
async function readJson(request: Request): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (request.body)
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > MAX_BODY) throw tooLarge();
      pieces.push(piece);
    }
  return parseJson(Buffer.concat(pieces).toString());
}

const tooLarge = () =>
  new RequestError(
    'body-too-large',
    `The request body is too large. Send at most ${MAX_BODY} bytes.`,
  );

/** @throws RequestError `invalid-request` */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('the body is not JSON');
  }
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

type FastifyRoute = (request: FastifyRequest, reply: FastifyReply) => void;

/** What is used of a Fastify instance, whatever its types are. */
export interface FastifyScope {
  readonly prefix: string;
  removeAllContentTypeParsers: Method;
  addContentTypeParser: Method;
  all: Method;
  setNotFoundHandler: Method;
}

type Method = (...parameters: never[]) => unknown;

interface CallableScope {
  readonly prefix: string;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (
      request: unknown,
      payload: IncomingMessage,
      done: (error: null, body: unknown) => void,
    ) => void,
  ): unknown;
  all(path: string, route: FastifyRoute): unknown;
  setNotFoundHandler(route: FastifyRoute): unknown;
}

/** A Fastify plugin. Everything below the `prefix` that it is registered with is the console's. */
export type FastifyMount = (
  instance: FastifyScope,
  options: unknown,
  done: (error?: Error) => void,
) => void;

const WITHOUT_PREFIX =
  "Register the console with a prefix: app.register(console.fastify, { prefix: '/ops/webhooks' }).";

export function fastifyMount(handle: Handle): FastifyMount {
  return (instance, _options, done) => {
    const scope: CallableScope = instance;
    if (typeof (instance as Partial<FastifyScope> | undefined)?.addContentTypeParser !== 'function')
      throw unknownForm('console.fastify', FASTIFY_FORM);
    const respond: FastifyRoute = (request, reply) => {
      reply.hijack();
      const { url = '/' } = request.raw;
      const place = {
        url,
        documentUrl: url,
        mount: scope.prefix.replace(/\/+$/, ''),
        raw: request,
      };
      void answerNode(handle, request.raw, reply.raw, place);
    };
    if (scope.prefix === '') {
      done(new WebhookError('invalid-options', WITHOUT_PREFIX));
      return;
    }
    // The console reads bodies itself, within its own limit.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    scope.all('/', respond);
    scope.all('/*', respond);
    // Methods that Fastify has no routes for.
    scope.setNotFoundHandler(respond);
    done();
  };
}
