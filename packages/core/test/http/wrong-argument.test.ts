import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createNodeHandler } from '../../src/node.ts';
import { createWebHandler } from '../../src/web.ts';
import { delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';

const incoming = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', url: '/hook' });
const outgoing = new ServerResponse(incoming);
const request = new Request('http://localhost/hook', { method: 'POST', body: '{}' });

const thrown = () => {
  throw new Error('not to be read');
};
const hostile = new Proxy({}, { get: thrown, has: thrown, ownKeys: thrown });

/** What frameworks call their handlers with, and what the error has to name. */
const OBJECTS: [string, unknown[], string][] = [
  ['an event of h3 2', [{ req: request, url: new URL(request.url) }], 'call it with event.req'],
  [
    'an event of h3 1',
    [
      {
        node: { req: incoming, res: outgoing },
        method: 'POST',
        path: '/hook',
        headers: new Headers(),
      },
    ],
    'toWebRequest(event)',
  ],
  ["Hono's context", [{ req: { raw: request } }, () => undefined], 'with c.req.raw'],
  ["SvelteKit's event", [{ request, url: new URL(request.url), platform: {} }], '({ request }) =>'],
  [
    "Koa's context",
    [{ req: incoming, res: outgoing, set: () => undefined }, () => undefined],
    'call createNodeHandler of @call-webhooks/core/node with ctx.req and ctx.res',
  ],
  ["Fastify's request", [{ raw: incoming, headers: {}, method: 'POST' }, {}], 'plugin of'],
  [
    'an event of AWS Lambda',
    [{ httpMethod: 'POST', headers: {}, body: '{}' }, {}],
    'adapters/lambda',
  ],
  ['a WebSocket event of AWS Lambda', [{ requestContext: {}, body: '{}' }], 'adapters/lambda'],
  ['headers alone', [new Headers()], 'receive({ method, headers, body })'],
  ['undefined', [], 'called with undefined'],
  ['null', [null], 'called with null'],
  ['a string', ['/hook'], 'called with a string'],
  ['an object whose getters throw', [hostile], 'called with another object'],
];

/** The packages that the errors tell users to import something from. */
const PACKAGES = [
  '@call-webhooks/adapters/hono',
  '@call-webhooks/adapters/koa',
  '@call-webhooks/adapters/lambda',
  '@call-webhooks/adapters/sveltekit',
  '@call-webhooks/core/node',
  '@call-webhooks/core/web',
  '@call-webhooks/express',
  '@call-webhooks/nest',
  '@call-webhooks/next',
  '@call-webhooks/next/pages',
];
/** An export has a capital letter; "the plugin of" is no name. */
const NAMED = /(\w*[A-Z]\w*) (?:of|from) (@call-webhooks(?:\/\w+)+)/g;

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was expected to throw.');
}

describe('a handler that is called with the wrong object', () => {
  const handle = jest.fn();
  const logger = new Lines();
  const options = { secret: SECRET, now: () => NOW, logger, on: { 'call:started': handle } };
  const web = createWebHandler(options) as unknown as (...args: unknown[]) => unknown;
  const node = createNodeHandler(options) as unknown as (...args: unknown[]) => unknown;
  const refused = (message: string): unknown =>
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringContaining(message) as unknown,
    });
  afterEach(() => {
    expect(handle).not.toHaveBeenCalled();
    expect(logger.all).toEqual([]);
  });

  it.each(OBJECTS)('createWebHandler with %s names what takes it', (_name, given, fix) => {
    expect(() => web(...given)).toThrow(refused(fix));
    expect(() => web(...given)).toThrow("takes fetch's Request");
  });

  it.each(OBJECTS)('createNodeHandler with %s names what takes it', (_name, given, fix) => {
    expect(() => node(...given)).toThrow(refused(fix));
    expect(() => node(...given)).toThrow('takes the request and response of node:http');
  });

  it('what the errors name is exported by the package that they name', async () => {
    const calls = OBJECTS.flatMap(([, given]) => [() => web(...given), () => node(...given)]);
    const texts = [...calls, () => web(incoming, outgoing), () => node(request)].map(messageOf);
    const named = new Map(
      texts
        .flatMap((text) => [...text.matchAll(NAMED)])
        .map(([all, name = '', from = '']) => [all, { name, from }]),
    );
    expect([...new Set([...named.values()].map(({ from }) => from))].sort()).toEqual(PACKAGES);
    for (const { name, from } of named.values())
      expect([from, Object.keys((await import(from)) as object)]).toEqual([
        from,
        expect.arrayContaining([name]),
      ]);
  });

  it('createWebHandler with the request and response of node:http', () => {
    expect(() => web(incoming, outgoing)).toThrow(refused('Use createNodeHandler'));
  });

  it('createNodeHandler with a Request, alone or with a response, and with its arguments swapped', () => {
    expect(() => node(request)).toThrow(refused('Use createWebHandler'));
    expect(() => node(request, outgoing)).toThrow(refused('Use createWebHandler'));
    expect(() => node(incoming)).toThrow(refused('which takes the response as well'));
    expect(() => node(outgoing, incoming)).toThrow(refused('request and response'));
  });
});

describe('the second argument of createWebHandler', () => {
  const post = async (extras: unknown) => {
    const web = createWebHandler({ secret: SECRET, now: () => NOW, logger: new Lines() });
    const one = new Request('http://localhost/hook', await delivery(STARTED));
    const response = await (web as (...args: unknown[]) => Promise<Response>)(one, extras);
    return response.status;
  };

  it.each<[string, unknown]>([
    ['bindings that are named as parts of a request', { method: 'GET', headers: {}, body: '{}' }],
    ['bindings named source and tenant', { source: 'redrive', tenant: 'acme' }],
    ['bindings named log and waitUntil', { log: 'verbose', waitUntil: 'https://example.com' }],
    ["Netlify's context", { url: new URL('https://other.example/'), log: () => undefined }],
    ['parameters of Next', { params: Promise.resolve({}) }],
    ['null', null],
    ['a text', 'hook'],
    ['getters that throw', hostile],
  ])('never replaces the request: %s', async (_name, extras) => {
    expect(await post(extras)).toBe(200);
  });

  it('may have a waitUntil, which is called as its method', async () => {
    const kept: unknown[] = [];
    class Context {
      readonly #kept = kept;
      waitUntil(work: Promise<unknown>) {
        this.#kept.push(work);
      }
    }
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const web = createWebHandler({
      ...{ secret: SECRET, now: () => NOW, logger: new Lines(), ackWithin: 10 },
      on: { 'call:started': () => ended },
    });
    const one = new Request('http://localhost/hook', await delivery(STARTED));
    expect((await web(one, new Context())).status).toBe(503);
    expect(kept).toHaveLength(1);
    end();
    expect(await kept[0]).toMatchObject({ outcome: 'handled', late: true });
  });
});
