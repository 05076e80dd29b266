import { describe, expect, it } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { Hono } from 'hono';
import * as honoLambda from 'hono/aws-lambda';
import {
  callWebhooks,
  generateSecret,
  ready,
  sign,
  type LambdaHttpEvent,
} from '../../src/lambda.ts';
import type { TenantRequest } from '@call-webhooks/core';
import { documented, TRIGGERS } from './triggers.ts';

const secret = generateSecret();
let runs = 0;
const handler = callWebhooks({
  secret,
  logger: collectingLogger(),
  on: { 'call:completed': () => void (runs += 1) },
});
const body = Buffer.from('{"eventName":"call:completed","callId":"c1","name":"Zoë ☎"}');
const event = (name: string, more: object = {}) =>
  ({ ...documented(name), ...more }) as unknown as LambdaHttpEvent;

describe('events of AWS’s documentation', () => {
  it.each([
    ['payload-2.0', 401, ['headers']],
    ['payload-1.0', 405, ['headers']],
    ['rest-api', 401, ['headers']],
    ['load-balancer', 405, ['headers', 'statusDescription']],
  ])('%s: %i', async (name, statusCode, parts) => {
    const response = await handler(event(name));
    expect(response.statusCode).toBe(statusCode);
    expect(Object.keys(response).sort()).toEqual(
      ['body', 'isBase64Encoded', 'statusCode', ...parts].sort(),
    );
  });

  it('the response is text, with the headers of the outcome', async () => {
    expect(await handler(event('payload-1.0'))).toEqual({
      statusCode: 405,
      headers: { allow: 'POST', 'content-type': 'application/json', 'content-length': '32' },
      body: '{"outcome":"method-not-allowed"}',
      isBase64Encoded: false,
    });
  });

  it('a load balancer with multi-value headers gets all headers in lists', async () => {
    const { statusCode, statusDescription, multiValueHeaders, headers } = await handler(
      event('load-balancer', { headers: undefined, multiValueHeaders: { host: ['x'] } }),
    );
    expect([statusCode, statusDescription, headers]).toEqual([
      405,
      '405 Method Not Allowed',
      undefined,
    ]);
    expect(multiValueHeaders).toMatchObject({ allow: ['POST'], 'content-length': ['32'] });
  });

  it('a header that came twice is refused, although the last of its values is right', async () => {
    const signed = await sign({ secret, body });
    const lists = Object.entries(signed).map(([name, value]) => [name, [value]] as const);
    const multiValueHeaders = Object.fromEntries(lists);
    multiValueHeaders['x-service-signature'] = [`v1,${'A'.repeat(43)}=`];
    const once = { httpMethod: 'POST', headers: signed, body: body.toString() };
    const twice = { ...once, isBase64Encoded: false, multiValueHeaders };
    const { body: answer } = await handler(event('rest-api', twice));
    expect(answer).toBe('{"outcome":"malformed-header"}');
  });
});

describe('what an event leaves out', () => {
  /** What `tenant` sees of an event, and the status of the response. */
  async function seenOf(given: LambdaHttpEvent) {
    const seen: TenantRequest[] = [];
    const receive = callWebhooks({
      tenant: ({ path, query, host, headers }) => {
        seen.push({ path, query, host, headers });
        return 'acme';
      },
      secret: () => secret,
      logger: collectingLogger(),
    });
    const { statusCode } = await receive(given);
    const [{ path, query, headers } = {} as TenantRequest] = seen;
    return { statusCode, path, query: String(query), headers };
  }
  const signed = () => sign({ secret, body });

  it('is empty with payload 2.0', async () => {
    const requestContext = { http: { method: 'POST' } };
    const headers = await signed();
    const given = { version: '2.0', requestContext, headers, body: body.toString() };
    expect(await seenOf(given)).toMatchObject({ statusCode: 200, path: '/', query: '' });
  });

  it('is empty with payload 1.0, where names without a value count as absent', async () => {
    const requestContext = {};
    const headers = { ...(await signed()), 'content-encoding': undefined };
    const queryStringParameters = { none: undefined, workspace: 'acme' };
    const given = { httpMethod: 'POST', requestContext, headers, queryStringParameters };
    const { headers: seen, ...rest } = await seenOf({ ...given, body: body.toString() });
    expect(rest).toEqual({ statusCode: 200, path: '/', query: 'workspace=acme' });
    expect(seen).not.toHaveProperty('content-encoding');
  });

  it('is no value of a query that came twice, nor a part of a path that was decoded', async () => {
    const given = {
      ...{ httpMethod: 'POST', requestContext: {}, path: '/hook/a?b#c' },
      ...{ headers: await signed(), body: body.toString() },
      queryStringParameters: { tag: 'second', workspace: 'a&b' },
      multiValueQueryStringParameters: { tag: ['first', 'second'], workspace: ['a&b'] },
    };
    const query = 'tag=first&tag=second&workspace=a%26b';
    const path = '/hook/a%3Fb%23c';
    expect(await seenOf(given)).toMatchObject({ statusCode: 200, path, query });
  });

  it.each([{}, null, undefined])('is in `headers`, if the lists are %p', async (lists) => {
    const requestContext = {};
    const given = { httpMethod: 'POST', requestContext, headers: await signed() };
    const event = { ...given, multiValueHeaders: lists, body: body.toString() };
    expect(await seenOf(event)).toMatchObject({ statusCode: 200 });
  });
});

describe('the body of an event', () => {
  const text = body.toString();
  const base64 = body.toString('base64');
  const respond = async (more: object) => {
    const own = collectingLogger();
    const receive = callWebhooks({ secret, logger: own });
    const headers = await sign({ secret, body });
    const { statusCode } = await receive(event('payload-2.0', { headers, ...more }));
    return { statusCode, lines: own.lines };
  };

  it.each<[string, object]>([
    ['text', { body: text, isBase64Encoded: false }],
    ['text, without the flag', { body: text, isBase64Encoded: undefined }],
    ['base64', { body: base64, isBase64Encoded: true }],
    ['base64 without padding', { body: base64.replace(/=+$/, ''), isBase64Encoded: true }],
    ['bytes, as some hosts pass them on', { body, isBase64Encoded: false }],
  ])('is taken as it was sent: %s', async (_name, more) => {
    expect((await respond(more)).statusCode).toBe(200);
  });

  it.each<[string, object, string]>([
    ['an object', { body: JSON.parse(text) as object }, 'httpJsonBodyParser of middy'],
    ['an array', { body: [1] }, 'Something replaced event.body'],
    ['a number', { body: 7 }, 'Something replaced event.body'],
    ['true', { body: true }, 'Something replaced event.body'],
    ['text that is said to be base64', { body: text, isBase64Encoded: true }, 'decoded it'],
    ['base64 that is said to be text', { body: base64, isBase64Encoded: false }, 'not true'],
    ['base64 without the flag', { body: base64, isBase64Encoded: undefined }, 'not true'],
    ['base64 with a text for a flag', { body: base64, isBase64Encoded: 'true' }, 'not true'],
  ])('gets 500, with the fix in the log: %s', async (_name, more, fix) => {
    const { statusCode, lines } = await respond(more);
    expect(statusCode).toBe(500);
    expect(lines).toEqual([expect.stringContaining('body-already-parsed')]);
    expect(lines[0]).toContain(fix);
  });

  it.each([null, undefined, ''])('is empty: %p', async (none) => {
    expect((await respond({ body: none })).statusCode).toBe(401);
  });

  it.each(['1234', 'true', 'null'])('is text, although it could be base64: %s', async (odd) => {
    const headers = await sign({ secret, body: odd });
    expect((await respond({ headers, body: odd, isBase64Encoded: false })).statusCode).toBe(200);
  });
});

describe("the context of another host than Lambda's", () => {
  it.each([
    {},
    { getRemainingTimeInMillis: 29_000 },
    { getRemainingTimeInMillis: () => 'unknown' },
    { method: 'GET', url: 'x' },
    null,
  ])('changes nothing: %j', async (context) => {
    const headers = await sign({ secret, body });
    const given = event('payload-2.0', { headers, body: body.toString() });
    const receive = callWebhooks({ secret, logger: collectingLogger() });
    expect((await receive(given, context as never)).statusCode).toBe(200);
  });
});

const KNOWN_TO_HONO = TRIGGERS.filter(({ name }) => name !== 'Netlify');

describe.each(KNOWN_TO_HONO)('Hono, an independent adapter, agrees on $name', (trigger) => {
  it('about the method, the bytes and the form of the response', async () => {
    const headers = { ...(await sign({ secret, body })), 'content-type': 'application/json' };
    const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const made = trigger.event({
      method: 'POST',
      url: new URL('http://localhost/hook'),
      headers: Object.fromEntries(lowered) as Record<string, string>,
      headersDistinct: Object.fromEntries(lowered.map(([name, value]) => [name, [value]])) as never,
      body,
    });
    const seen: unknown[] = [];
    const app = new Hono();
    app.all('*', async (c) => {
      seen.push(c.req.method, Buffer.from(await c.req.arrayBuffer()));
      return c.json({ outcome: 'handled' }, 200);
    });
    // Deprecated for a package that does not exist yet.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const adapted = honoLambda.handle(app) as (event: unknown) => Promise<unknown>;
    const theirs = Object(await adapted(made)) as object;
    const ours = await handler(made);
    expect(seen).toEqual(['POST', body]);
    expect(ours.statusCode).toBe(200);
    // For payload 1.0 both kinds of headers are right, and Hono sends the other one.
    const isEither = 'headers' in made && 'multiValueHeaders' in made;
    const kinds = isEither ? [] : ['headers', 'multiValueHeaders'];
    for (const part of ['statusCode', 'isBase64Encoded', ...kinds]) {
      const [a, b] = [ours, theirs].map((response) => Reflect.get(response, part) as unknown);
      expect([part, typeof a]).toEqual([part, typeof b]);
    }
  });
});

describe('an event that is no HTTP request', () => {
  it.each([
    ['a message of SQS', { Records: [{ eventSource: 'aws:sqs', body: '{}' }] }, 'one of aws:sqs'],
    ['a notice of SNS', { Records: [{ EventSource: 'aws:sns' }] }, 'one of aws:sns'],
    ['an event of EventBridge', { source: 'aws.events', detail: {} }, 'one of aws.events'],
    ['a request of Lambda@Edge', { Records: [{ cf: {} }] }, 'one of Lambda@Edge'],
    ['VPC Lattice', { version: '2.0', method: 'POST', headers: {} }, 'VPC Lattice'],
    ['a message with a method alone', { method: 'POST' }, 'is not an HTTP request. Invoke'],
    ['a message with headers alone', { headers: {} }, 'is not an HTTP request. Invoke'],
    ['a pattern of EventBridge', { source: ['aws.events'] }, 'is not an HTTP request. Invoke'],
    ['a test event of the console', { key1: 'value1' }, 'is not an HTTP request. Invoke'],
    ['nothing', undefined, 'is not an HTTP request. Invoke'],
    ['a Request', new Request('http://x', { method: 'POST', body }), "called with fetch's Request"],
    ['a context of Hono', { req: { raw: new Request('http://x') } }, "called with Hono's context"],
  ])('%s is refused before anything runs, with the fix', async (_name, given, message) => {
    const before = runs;
    const refused = handler(given as never);
    await expect(refused).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(refused).rejects.toThrow(message);
    expect(runs).toBe(before);
    const probed = ready(handler)(given as never);
    await expect(probed).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(probed).rejects.toThrow(message);
  });

  it.each([
    { source: 'Ada Lovelace', Records: [{ eventSource: 'whsec_secret' }] },
    { source: 'aws.events of Ada Lovelace' },
    { source: 'Ada Lovelace of aws.events' },
  ])('its content is not part of the message: %j', async (given) => {
    const error: unknown = await handler(given as never).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toMatch(/Ada|whsec/);
  });
});
