import { expect, it } from '@jest/globals';
import fastify from 'fastify';
import { z } from 'zod';
import type { CallStartedEvent, HandlerContext, Receiver } from '@call-webhooks/core';
import { callWebhooks } from '../src/index.ts';

// Checked by `npm run typecheck`; nothing here runs but the last line.
export const typed = () => {
  const hook = callWebhooks({
    path: '/hook',
    secret: 'x',
    on: {
      'call:started': (event, context) => {
        event satisfies CallStartedEvent;
        context satisfies HandlerContext;
        // @ts-expect-error it is typed, not any
        event.callId satisfies number;
        // @ts-expect-error it is called callId
        if (event.calId) return;
      },
    },
  });
  fastify().register(hook, { prefix: '/api' });
  hook.receiver satisfies Receiver;
  // @ts-expect-error a misspelt event name
  fastify().register(callWebhooks({ secret: 'x', on: { 'call:startd': () => undefined } }));
  // @ts-expect-error a misspelt option
  fastify().register(callWebhooks({ secret: 'x', pfad: '/hook' }));
  fastify().register(callWebhooks, {
    path: '/hook',
    prefix: '/api',
    secret: 'x',
    on: {
      'call:started': (event, context) => {
        event satisfies CallStartedEvent;
        context satisfies HandlerContext;
        // @ts-expect-error it is typed, not any
        event.callId satisfies number;
      },
    },
  });
  // @ts-expect-error a misspelt event name
  fastify().register(callWebhooks, { secret: 'x', on: { 'call:startd': () => undefined } });
  // @ts-expect-error the secret is required
  fastify().register(callWebhooks, { path: '/hook' });
  fastify().register(callWebhooks, { receiver: hook.receiver });
  fastify().register(
    callWebhooks({
      secret: 'x',
      events: { 'call:voicemail': z.object({ seconds: z.number() }) },
      on: {
        'call:voicemail': (event) => event satisfies { seconds: number },
        // @ts-expect-error the default store is in memory
        'call:started': (_event, { completeIn }) => completeIn({}),
      },
      custom: {
        schema: z.object({ crmId: z.string() }),
        handle: (payload) => payload satisfies { crmId: string },
      },
    }),
  );
};

it('types the handlers of the plugin', () => {
  expect(typed).toBeInstanceOf(Function);
});
