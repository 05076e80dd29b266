// Reports which framework object a handler was called with, and what accepts that object.
import type { WebhookError } from '../errors.ts';
import { invalidOptions } from '../errors.ts';

/** A property, whatever it is read from. A getter may throw. */
export function read(from: unknown, name: string): unknown {
  try {
    return (Object(from) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

const hasMethod = (from: unknown, name: string) => typeof read(from, name) === 'function';
const hasText = (from: unknown, name: string) => typeof read(from, name) === 'string';

/** Also one of another library, or of another realm, but no context of a framework that has its headers. */
export const isFetchRequest = (given: unknown): given is Request =>
  hasMethod(read(given, 'headers'), 'get') &&
  hasMethod(given, 'arrayBuffer') &&
  hasText(given, 'method') &&
  hasText(given, 'url');

/** Whether these are headers of Node: a plain record. */
const hasRecord = (given: unknown) => {
  const headers = read(given, 'headers');
  return typeof headers === 'object' && headers !== null && !hasMethod(headers, 'get');
};

export const isNodeRequest = (given: unknown): boolean =>
  hasRecord(given) && hasMethod(given, 'on') && hasText(given, 'method');

export const isNodeResponse = (given: unknown): boolean => hasMethod(given, 'writeHead');

type Kind = readonly [isOne: (given: unknown) => boolean, name: string, fix: string];

const OF_NODE = [
  'the request of node:http',
  'Use createNodeHandler of @call-webhooks/core/node, which takes the response as well. In Express, use callWebhooks of @call-webhooks/express; in Nest, CallWebhooksModule of @call-webhooks/nest; in the Pages Router of Next, import callWebhooks from @call-webhooks/next/pages.',
] as const;

/** What servers and their frameworks call handlers with; the first that fits. */
const OF_SERVERS: readonly Kind[] = [
  [
    (given) => isNodeRequest(read(read(given, 'node'), 'req')),
    'an event of h3 1, which Nuxt and Nitro use',
    'Use createWebHandler of @call-webhooks/core/web, and call it with toWebRequest(event) of h3.',
  ],
  [
    (given) => isFetchRequest(read(read(given, 'req'), 'raw')),
    "Hono's context",
    'Use callWebhooks of @call-webhooks/adapters/hono, or call createWebHandler of @call-webhooks/core/web with c.req.raw.',
  ],
  [
    (given) => isFetchRequest(read(given, 'req')),
    'an event of h3 2',
    'Use createWebHandler of @call-webhooks/core/web, and call it with event.req.',
  ],
  [
    (given) => isFetchRequest(read(given, 'request')),
    'a context that has a Request, such as that of SvelteKit, Astro, React Router or Elysia',
    'In SvelteKit, use callWebhooks of @call-webhooks/adapters/sveltekit. Elsewhere, use createWebHandler of @call-webhooks/core/web, and call it with the request of the context: ({ request }) => hook(request).',
  ],
  [
    isFetchRequest,
    "fetch's Request",
    'Use createWebHandler of @call-webhooks/core/web. In the App Router of Next, import callWebhooks from @call-webhooks/next; on Cloudflare Workers, from @call-webhooks/cloudflare.',
  ],
  [
    (given) => isNodeResponse(read(given, 'res')) && hasMethod(given, 'set'),
    "Koa's context",
    'Use callWebhooks of @call-webhooks/adapters/koa, or call createNodeHandler of @call-webhooks/core/node with ctx.req and ctx.res.',
  ],
  [
    (given) => isNodeRequest(read(given, 'raw')),
    "Fastify's request",
    'In Fastify, register the plugin of @call-webhooks/fastify. In Nest on Fastify, use CallWebhooksModule of @call-webhooks/nest.',
  ],
  [isNodeRequest, ...OF_NODE],
];

/** As Node has them, but without the methods of a request of Node: made by hand. */
const MADE_BY_HAND: Kind = [(given) => hasRecord(given) && hasText(given, 'method'), ...OF_NODE];

const OF_LAMBDA: Kind = [
  (given) => hasText(given, 'httpMethod') || typeof read(given, 'requestContext') === 'object',
  'an event of AWS Lambda',
  'Use callWebhooks of @call-webhooks/adapters/lambda.',
];

/** Whether a framework of servers calls its handlers with this. */
export const isOfServer = (given: unknown): boolean => OF_SERVERS.some(([isOne]) => isOne(given));

/**
 * The error for a handler that was called with the wrong object.
 * @param takes what the handler takes, as a whole sentence
 * @param given its first argument. Nothing of its content gets into the message.
 */
export function wrongArgument(takes: string, given: unknown): WebhookError {
  const [, name, fix] = [...OF_SERVERS, OF_LAMBDA, MADE_BY_HAND].find(([isOne]) =>
    isOne(given),
  ) ?? [
    undefined,
    described(given),
    'In a framework without an adapter, pass the raw bytes to createReceiver(…).receive({ method, headers, body }).',
  ];
  return invalidOptions(`${takes} It was called with ${name}. ${fix}`);
}

function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'another object' : `a ${typeof value}`;
}
