import { expect, it } from '@jest/globals';
import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import { Hono } from 'hono';
import Koa from 'koa';
import { z } from 'zod';
import { callWebhooks as hono, type CallStartedEvent, type HandlerContext } from '../src/hono.ts';
import { callWebhooks as koa } from '../src/koa.ts';
import { callWebhooks as lambda } from '../src/lambda.ts';
import { callWebhooks as sveltekit } from '../src/sveltekit.ts';

const secret = 'x';
const voicemail = z.object({ seconds: z.number() });

// Checked by `npm run typecheck`; it is never called. SvelteKit's own types are in sveltekit/app.
export const typed = () => [
  new Hono().use(hono({ path: '/hook', secret })),
  new Hono<{ Bindings: { KEY: string } }>().on('ALL', ['/hook', '/hook/'], hono({ secret })),
  new Hono().basePath('/api').post('/hook/:id', hono({ secret })),
  new Koa().use(koa({ path: '/hook', secret })),
  new Koa<{ user: string }, { db: object }>().use(koa({ secret })),
  lambda({ secret }) satisfies ALBHandler,
  lambda({ secret }) satisfies APIGatewayProxyHandler,
  lambda({ secret }) satisfies APIGatewayProxyHandlerV2,
  lambda({ secret }) satisfies LambdaFunctionURLHandler,

  hono({
    secret: () => process.env['SECRET'],
    on: {
      'call:started': (event, context) => {
        event satisfies CallStartedEvent;
        context satisfies HandlerContext;
      },
    },
  }),
  // @ts-expect-error a misspelt option
  hono({ secret, paht: '/hook' }),
  // @ts-expect-error a misspelt event name
  hono({ secret, on: { 'call:startd': () => undefined } }),
  // @ts-expect-error the event is typed, not any
  hono({ secret, on: { 'call:started': (event) => event.callId satisfies number } }),
  hono({
    secret,
    events: { voicemail },
    on: { voicemail: ({ seconds }) => seconds satisfies number },
  }),
  // @ts-expect-error a misspelt option
  koa({ secret, paht: '/hook' }),
  // @ts-expect-error a misspelt event name
  koa({ secret, on: { 'call:startd': () => undefined } }),
  // @ts-expect-error the event is typed, not any
  koa({ secret, on: { 'call:started': (event) => event.callId satisfies number } }),
  koa({
    secret,
    events: { voicemail },
    on: { voicemail: ({ seconds }) => seconds satisfies number },
  }),
  // @ts-expect-error a misspelt option
  lambda({ secret, paht: '/hook' }),
  // @ts-expect-error a misspelt event name
  lambda({ secret, on: { 'call:startd': () => undefined } }),
  // @ts-expect-error the event is typed, not any
  lambda({ secret, on: { 'call:started': (event) => event.callId satisfies number } }),
  lambda({
    secret,
    events: { voicemail },
    on: { voicemail: ({ seconds }) => seconds satisfies number },
  }),
  // @ts-expect-error a misspelt option
  sveltekit({ secret, paht: '/hook' }),
  // @ts-expect-error a misspelt event name
  sveltekit({ secret, on: { 'call:startd': () => undefined } }),
  // @ts-expect-error the event is typed, not any
  sveltekit({ secret, on: { 'call:started': (event) => event.callId satisfies number } }),
  sveltekit({
    secret,
    events: { voicemail },
    on: { voicemail: ({ seconds }) => seconds satisfies number },
  }),
  // @ts-expect-error a route of SvelteKit has its path from its file
  sveltekit({ secret, path: '/hook' }),
];

it('types the handlers', () => {
  expect(typed).toBeInstanceOf(Function);
});
