import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { serveLocally } from '@call-webhooks/contract-tests';
import type { LambdaContext, LambdaHttpEvent, LambdaHttpResponse } from '../../src/lambda.ts';

/** An HTTP request, as a trigger of Lambda gets it. */
export interface HttpRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  headersDistinct: Record<string, string[] | undefined>;
  body: Buffer;
}

/** A trigger of Lambda: its event for a request, and what it takes of the response. */
export interface Trigger {
  name: string;
  event(request: HttpRequest): LambdaHttpEvent;
  headers(response: LambdaHttpResponse): OutgoingHttpHeaders;
}

/** An event of AWS's documentation. */
export const documented = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`events/${name}.json`, import.meta.url), 'utf8')) as Record<
    string,
    unknown
  >;

/** Load balancers and HTTP APIs pass on these as text, and anything else as base64. */
const TEXT = /^(?:text\/|application\/(?:json|javascript|xml)\b)/;

function bodyOf({ headers, body }: HttpRequest) {
  const isText = TEXT.test(headers['content-type'] ?? '') && !headers['content-encoding'];
  return isText
    ? { body: body.toString('utf8'), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true };
}

const joined = ({ headersDistinct }: HttpRequest, separator = ',') =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(separator)]),
  );
const last = ({ headersDistinct }: HttpRequest) =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.at(-1) ?? '']),
  );
/** REST APIs pass on names as they were sent; a client may send any case. */
const inUpperCase = <Value>(headers: Record<string, Value>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
const v1Url = ({ url }: HttpRequest) => ({
  path: url.pathname,
  queryStringParameters: url.search === '' ? null : Object.fromEntries(url.searchParams),
  multiValueQueryStringParameters: null,
});
const ofHeaders = ({ headers, multiValueHeaders }: LambdaHttpResponse) => ({
  ...headers,
  ...multiValueHeaders,
});

function payloadV2(name: string): Trigger {
  return {
    name,
    event(request) {
      const event = documented('payload-2.0') as unknown as LambdaHttpEvent & {
        requestContext: { http: object };
      };
      const http = { ...event.requestContext.http, method: request.method };
      const { pathname: rawPath, search } = request.url;
      const url = { rawPath, rawQueryString: search.slice(1) };
      const requestContext = { ...event.requestContext, http };
      return { ...event, ...url, requestContext, headers: joined(request), ...bodyOf(request) };
    },
    headers: ({ headers = {} }) => headers,
  };
}

export const TRIGGERS: readonly Trigger[] = [
  payloadV2('API Gateway, payload 2.0'),
  payloadV2('a function URL'),
  {
    name: 'API Gateway, HTTP API with payload 1.0',
    event: (request) => ({
      ...(documented('payload-1.0') as unknown as LambdaHttpEvent),
      httpMethod: request.method,
      ...v1Url(request),
      headers: last(request),
      multiValueHeaders: request.headersDistinct,
      ...bodyOf(request),
    }),
    headers: ofHeaders,
  },
  {
    name: 'API Gateway, REST API with binary media types',
    event: (request) => ({
      ...(documented('rest-api') as unknown as LambdaHttpEvent),
      httpMethod: request.method,
      ...v1Url(request),
      headers: inUpperCase(last(request)),
      multiValueHeaders: inUpperCase(request.headersDistinct),
      body: request.body.length === 0 ? null : request.body.toString('base64'),
      isBase64Encoded: request.body.length > 0,
    }),
    headers: ofHeaders,
  },
  {
    name: 'a load balancer',
    event: (request) => ({
      ...(documented('load-balancer') as unknown as LambdaHttpEvent),
      httpMethod: request.method,
      ...v1Url(request),
      headers: joined(request, ', '),
      ...bodyOf(request),
    }),
    headers: ({ headers = {} }) => headers,
  },
  {
    name: 'a load balancer with multi-value headers',
    event(request) {
      const { headers: _headers, ...event } = documented('load-balancer');
      return {
        ...(event as unknown as LambdaHttpEvent),
        httpMethod: request.method,
        ...v1Url(request),
        multiValueHeaders: request.headersDistinct,
        ...bodyOf(request),
      };
    },
    headers: ({ multiValueHeaders = {} }) => multiValueHeaders,
  },
  {
    name: 'Netlify',
    event: (request) => ({
      rawUrl: request.url.href,
      rawQuery: request.url.search.slice(1),
      httpMethod: request.method,
      ...v1Url(request),
      headers: last(request),
      multiValueHeaders: request.headersDistinct,
      ...bodyOf(request),
    }),
    headers: ofHeaders,
  },
];

/** Serves a function over HTTP behind a trigger. */
export const serveTrigger = (
  trigger: Trigger,
  handler: (event: LambdaHttpEvent, context: LambdaContext) => Promise<LambdaHttpResponse>,
) =>
  serveLocally((incoming, outgoing) => {
    void (async () => {
      const event = trigger.event(await received(incoming));
      // An event and a response are JSON on their way.
      const passedOn = JSON.parse(JSON.stringify(event)) as LambdaHttpEvent;
      const context = { getRemainingTimeInMillis: () => 29_000 };
      const response = await handler(passedOn, context);
      outgoing.writeHead(response.statusCode, trigger.headers(response)).end(response.body);
    })();
  });

async function received(incoming: IncomingMessage): Promise<HttpRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', headers, headersDistinct } = incoming;
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return { method, url, headers, headersDistinct, body: Buffer.concat(chunks) };
}
