/* eslint-disable @typescript-eslint/no-unused-vars, @typescript-eslint/no-unnecessary-type-parameters,
   @typescript-eslint/no-unsafe-return --
   the types of the parameters are what is tested here, also of those that do not exist */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  createReceiver,
  defineHandlers,
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type HandlerContext,
  type Handlers,
} from '../src/index.ts';
import { delivery, SECRET, NOW } from './support.ts';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only for types that are the same; the type check of the tests is what runs these. */
const same = <A, B>(proof: Same<A, B>) => {
  expect(proof).toBe(true);
};
const voicemail = z.object({ eventName: z.literal('call:voicemail'), seconds: z.number() });

describe('the fields of events', () => {
  it('are those of the spec, and a misspelt one does not compile', () => {
    createReceiver({
      secret: SECRET,
      on: {
        'call:started': (event) => {
          // @ts-expect-error it is called callId
          if (event.calId) return undefined;
          // @ts-expect-error only the context has fields that the type does not name
          return event['crmId'];
        },
        // @ts-expect-error it is called callId
        'call:completed': (event) => event.callID,
        // @ts-expect-error it is called recordingUrl
        'call:recording-available': ({ recordingURL }) => recordingURL,
      },
    });
    same<keyof CallStartedEvent, 'eventName' | 'callId' | 'fromPhoneNumber'>(true);
    same<keyof CallCompletedEvent, 'eventName' | 'callId' | 'fromPhoneNumber'>(true);
    same<
      keyof CallRecordingAvailableEvent,
      | ('eventName' | 'eventId' | 'callId' | 'userId' | 'workspaceId' | 'recordingStartedAt')
      | ('recordingDurationSeconds' | 'occurredAt' | 'recordingUrl')
    >(true);
  });

  it('let an event be passed as a record', () => {
    const keep = (record: Record<string, unknown>) => record;
    createReceiver({ secret: SECRET, on: { 'call:started': keep } });
    const events: CallStartedEvent[] = [{ eventName: 'call:started' }];
    expect(events.map(keep)).toEqual(events);
  });

  it('are all in context.payload, as they were sent', async () => {
    const payloads: unknown[] = [];
    const receiver = createReceiver({
      secret: SECRET,
      now: () => NOW,
      on: {
        'call:completed': (event, { payload }) => {
          same<typeof payload, Readonly<Record<string, unknown>>>(true);
          payloads.push(payload['crmId'], payload['callId'], event.callId);
        },
      },
      custom: { handle: (_payload, { payload }) => void payloads.push(payload) },
    });
    const send = async (payload: unknown) =>
      (await receiver.receive(await delivery(payload))).outcome.outcome;
    expect(await send({ eventName: 'call:completed', callId: 7, crmId: 'crm-1' })).toBe('handled');
    expect(await send(['no object'])).toBe('handled');
    expect(await send(null)).toBe('handled');
    expect(payloads).toEqual(['crm-1', 7, undefined, {}, {}]);
  });
});

describe('handlers in a file of their own', () => {
  it('have the types of their events', () => {
    const handlers = defineHandlers({
      'call:started': (event, context) => {
        same<typeof event, CallStartedEvent>(true);
        same<typeof context, HandlerContext>(true);
        // @ts-expect-error it is called callId
        return event.calId;
      },
      'call:completed': async (_event, { completeIn }) => completeIn({}),
    });
    const satisfying = {
      'call:completed': (event, context) => {
        same<typeof event, CallCompletedEvent>(true);
        same<typeof context, HandlerContext>(true);
      },
    } satisfies Handlers;
    createReceiver({ secret: SECRET, on: handlers });
    createReceiver({ secret: SECRET, on: satisfying });
  });

  it('refuse a misspelt event name', () => {
    // @ts-expect-error there is no such event
    defineHandlers({ 'call:strated': () => undefined });
    // @ts-expect-error there is no such event
    const on = { 'call:strated': () => undefined } satisfies Handlers;
    defineHandlers(
      // @ts-expect-error there is no such event, not even with extra ones
      { 'call:voicemial': () => undefined },
      { events: { 'call:voicemail': voicemail } },
    );
  });

  it('know extra events by their schemas', () => {
    const events = { 'call:voicemail': voicemail };
    const on = defineHandlers(
      {
        'call:voicemail': (event) => same<typeof event, z.output<typeof voicemail>>(true),
        'call:started': (event) => same<typeof event, CallStartedEvent>(true),
      },
      { events },
    );
    createReceiver({ secret: SECRET, events, on });
    expect(() => createReceiver({ secret: SECRET, on })).toThrow('call:voicemail');
  });
});
