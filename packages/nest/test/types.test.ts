import { expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  CallWebhooksModule,
  OnCallEvent,
  type CallCompletedEvent,
  type CallStartedEvent,
  type HandlerContext,
} from '../src/index.ts';

const voicemail = z.object({ eventName: z.literal('call:voicemail'), seconds: z.number() });

// Checked by `npm run typecheck`; they are never called.
export class Handlers {
  @OnCallEvent('call:completed')
  async onCompleted(event: CallCompletedEvent, context: HandlerContext) {
    await Promise.resolve([event.callId, context.attempt]);
  }

  @OnCallEvent('call:started')
  onStarted() {
    return undefined;
  }

  // @ts-expect-error the event of another handler
  @OnCallEvent('call:recording-available')
  onRecording(event: CallStartedEvent) {
    return event;
  }

  // @ts-expect-error a misspelt name
  @OnCallEvent('call:startd')
  onMisspelt() {
    return undefined;
  }

  @OnCallEvent('call:voicemail', voicemail)
  onVoicemail(event: { seconds: number }) {
    return event;
  }

  // @ts-expect-error it has the schema's type
  @OnCallEvent('call:voicemail', voicemail)
  onOther(event: { seconds: string }) {
    return event;
  }
}

export const options = () => [
  CallWebhooksModule.forRoot({ path: '/hook', secret: process.env['SECRET'] }),
  // @ts-expect-error there is no path
  CallWebhooksModule.forRoot({ secret: 'x' }),
  // @ts-expect-error handlers are decorated methods
  CallWebhooksModule.forRoot({ path: '/hook', secret: 'x', on: {} }),
  CallWebhooksModule.forRootAsync({
    useFactory: () => Promise.resolve({ path: '/hook', secret: 'x' }),
  }),
];

it('types the decorated methods', () => {
  expect([Handlers, options]).toHaveLength(2);
});
