import { expect, it } from '@jest/globals';
import Koa from 'koa';
import { z } from 'zod';
import { callWebhooks, type CallStartedEvent, type HandlerContext } from '../src/index.ts';

// Checked by `npm run typecheck`; it is never called.
export const typed = () => [
  new Koa().use(
    callWebhooks({
      path: '/hook',
      secret: () => process.env['SECRET'],
      on: {
        'call:started': (event, context) => {
          event satisfies CallStartedEvent;
          context satisfies HandlerContext;
          // @ts-expect-error it is typed, not any
          event.callId satisfies number;
        },
      },
    }),
  ),
  // @ts-expect-error a misspelt event name
  callWebhooks({ secret: 'x', on: { 'call:startd': () => undefined } }),
  // @ts-expect-error a misspelt option
  callWebhooks({ secret: 'x', paht: '/hook' }),
  callWebhooks({
    secret: 'x',
    events: { 'call:voicemail': z.object({ seconds: z.number() }) },
    on: { 'call:voicemail': (event) => event satisfies { seconds: number } },
  }),
];

it('types the handlers', () => {
  expect(typed).toBeInstanceOf(Function);
});
