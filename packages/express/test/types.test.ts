import { expect, it } from '@jest/globals';
import type {
  CallRecordingAvailableEvent,
  CallStartedEvent,
  HandlerContext,
  Outcome,
} from '@call-webhooks/core';
import { z } from 'zod';
import { callWebhooks } from '../src/index.ts';

// Checked by `npm run typecheck`; it is never called.
export const typed = () => [
  callWebhooks({
    secret: 'x',
    onOutcome: (outcome) => outcome satisfies Outcome,
    on: {
      'call:started': (event, context) => {
        event satisfies CallStartedEvent;
        context satisfies HandlerContext;
        // @ts-expect-error it is typed, not any
        event.callId satisfies number;
      },
      'call:recording-available': (event) => event satisfies CallRecordingAvailableEvent,
    },
  }),
  // @ts-expect-error a misspelt event name
  callWebhooks({ secret: 'x', on: { 'call:startd': () => undefined } }),
  // @ts-expect-error a misspelt option
  callWebhooks({ secret: 'x', ackWithim: 5 }),
  callWebhooks({
    secret: 'x',
    events: { 'call:voicemail': z.object({ seconds: z.number() }) },
    on: { 'call:voicemail': (event) => event satisfies { seconds: number } },
    custom: {
      schema: z.object({ crmId: z.string() }),
      key: (payload) => payload.crmId,
      // @ts-expect-error it has the schema's type
      handle: (payload) => payload satisfies { crmId: number },
    },
  }),
];

it('types the handlers', () => {
  expect(typed).toBeInstanceOf(Function);
});
