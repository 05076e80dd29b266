// Every entry, under each module resolution of each TypeScript: found, and typed. What is not found, or
// loses its types, is `any`, which would let all of this compile but the last lines.
import { callWebhooks as hono } from '@call-webhooks/adapters/hono';
import { callWebhooks as koa } from '@call-webhooks/adapters/koa';
import { callWebhooks as lambda } from '@call-webhooks/adapters/lambda';
import { callWebhooks as sveltekit } from '@call-webhooks/adapters/sveltekit';
import { createClient } from '@call-webhooks/client';
import { createVectors } from '@call-webhooks/contract';
import { createReceiver, defineHandlers, type Handlers } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { createWebHandler } from '@call-webhooks/core/web';
import { callWebhooks as express } from '@call-webhooks/express';
import { callWebhooks as fastify } from '@call-webhooks/fastify';
import { callWebhooks as next } from '@call-webhooks/next';
import { callWebhooks as nextPages } from '@call-webhooks/next/pages';
import { startSimulator } from '@call-webhooks/simulator';
import type { WebhookEventSummary } from '@call-webhooks/simulator/control-api';
import { storeContractTests } from '@call-webhooks/store-tests';
import { callCompleted, deliver } from '@call-webhooks/testing';

type IsAny<Type> = 0 extends 1 & Type ? true : false;
const typed = <_Type>(_isAny: IsAny<_Type>) => undefined;
typed<ReturnType<typeof createReceiver>>(false);
typed<ReturnType<typeof createNodeHandler>['receiver']>(false);
typed<ReturnType<typeof createWebHandler>['receiver']>(false);
typed<ReturnType<typeof express>['receiver']>(false);
typed<ReturnType<typeof hono>['receiver']>(false);
typed<ReturnType<typeof koa>['receiver']>(false);
typed<ReturnType<typeof lambda>['receiver']>(false);
typed<ReturnType<typeof sveltekit>['receiver']>(false);
const plugin = fastify({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
typed<(typeof plugin)['receiver']>(false);
typed<Parameters<typeof plugin>[0]>(false);
typed<ReturnType<typeof next>['receiver']>(false);
typed<ReturnType<typeof nextPages>['receiver']>(false);
typed<Awaited<ReturnType<typeof startSimulator>>['events']>(false);
typed<ReturnType<typeof createClient>['calls']>(false);
typed<ReturnType<typeof createVectors>[number]>(false);
typed<WebhookEventSummary>(false);
typed<Parameters<typeof storeContractTests>[1]['without']>(false);
typed<Awaited<ReturnType<typeof deliver>>['outcome']>(false);

export const handlers = defineHandlers({
  'call:completed': (event, context) => {
    typed<typeof event>(false);
    typed<typeof context.call>(false);
    // @ts-expect-error it is called callId
    return event.calId;
  },
});
export const satisfying = { 'call:started': (event) => event.callId } satisfies Handlers;
express({ secret: 'x', on: handlers });
// @ts-expect-error a misspelt event
fastify({ secret: 'x', on: { 'call:strated': () => undefined } });
// @ts-expect-error a misspelt field
callCompleted({ calId: 'c1' });
