import { expect, it } from '@jest/globals';
import fastify from 'fastify';
import { z } from 'zod';
import type { CallStartedEvent, HandlerContext } from '@call-webhooks/core';
import { callWebhooks, defineOptions } from '../src/index.ts';

// Checked by `npm run typecheck`; nothing here runs but the last line.
export const typed = () => {
  const app = fastify();
  app.register(callWebhooks, {
    path: '/hook',
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
  app.register(callWebhooks, { secret: 'x', on: { 'call:startd': () => undefined } });
  app.register(
    callWebhooks,
    defineOptions({
      secret: 'x',
      events: { 'call:voicemail': z.object({ seconds: z.number() }) },
      on: { 'call:voicemail': (event) => event satisfies { seconds: number } },
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
