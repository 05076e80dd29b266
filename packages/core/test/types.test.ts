/* eslint-disable @typescript-eslint/no-unused-vars, @typescript-eslint/no-unnecessary-type-parameters --
   the types of the parameters are what is tested here */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  createReceiver,
  memoryStore,
  type EVENT_NAMES,
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type HandlerContext,
  type Outcome,
  type OutcomeCode,
  type Store,
  type CallEventMap,
  type UnknownEvent,
} from '../src/index.ts';
import type { ContextWithoutCompleteIn } from '../src/stores.ts';
import { createNodeHandler } from '../src/node.ts';
import { createWebHandler } from '../src/web.ts';
import { createJobProcessor } from '../src/stores.ts';
import { SECRET } from './support.ts';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only for types that are the same; the type check of the tests is what runs these. */
const same = <A, B>(proof: Same<A, B>) => {
  expect(proof).toBe(true);
};
const voicemail = z.object({ eventName: z.literal('call:voicemail'), seconds: z.number() });

describe('the types', () => {
  it('pass each handler its event', () => {
    createReceiver({
      secret: SECRET,
      on: {
        'call:started': (event, context) => {
          same<typeof event, CallStartedEvent>(true);
          same<typeof context, ContextWithoutCompleteIn>(true); // the default store is in memory
        },
        'call:completed': (event) => same<typeof event, CallCompletedEvent>(true),
        'call:recording-available': async (event) => {
          same<typeof event, CallRecordingAvailableEvent>(true);
          same<typeof event.recordingDurationSeconds, number | undefined>(true);
          await Promise.resolve();
        },
      },
      onUnhandled: (event) => same<typeof event, UnknownEvent | Record<string, unknown>>(true),
      onOutcome: (outcome) => same<typeof outcome, Outcome>(true),
    });
    same<keyof CallEventMap, (typeof EVENT_NAMES)[number]>(true);
    same<Outcome['outcome'], OutcomeCode>(true);
  });

  it('let a group be made of any field', () => {
    createReceiver({ secret: SECRET, oneAtATime: (event) => event.callId });
    createReceiver({ secret: SECRET, oneAtATime: ({ userId }) => String(userId) });
    // @ts-expect-error it may be of any type
    createReceiver({ secret: SECRET, oneAtATime: (event) => event['userId'] });
  });

  it('refuse completeIn for a store that has none, and say what has it', () => {
    const own = { secret: SECRET, store: memoryStore() };
    createReceiver({
      ...own,
      on: {
        // @ts-expect-error this store is in no database
        'call:started': async (_event, { completeIn }) => completeIn({ query: () => 1 }),
        'call:completed': (_event, context) => {
          type Transaction = Parameters<typeof context.completeIn>[0];
          same<Transaction extends `completeIn needs postgresStore${string}` ? true : false, true>(
            true,
          );
        },
      },
    });
    createReceiver({
      secret: SECRET,
      // @ts-expect-error the default store is in memory
      onUnhandled: (_event, { completeIn }) => completeIn({}),
    });
    createNodeHandler({
      ...own,
      // @ts-expect-error this store is in no database
      custom: { handle: (_event, { completeIn }) => completeIn({}) },
    });
    createWebHandler({
      ...own,
      // @ts-expect-error this store is in no database
      on: { 'call:started': (_event, { completeIn }) => completeIn({}) },
    });
  });

  it('allow completeIn for a store that has it, or may have it', () => {
    const on = {
      'call:started': (event: CallStartedEvent, { completeIn }: HandlerContext) =>
        completeIn(event),
    };
    const store = { ...memoryStore(), completeIn: () => true };
    createReceiver({
      secret: SECRET,
      store,
      on: { 'call:started': (_event, context) => same<typeof context, HandlerContext>(true) },
    });
    const any: Store = store;
    createReceiver({ secret: SECRET, store: any, on });
    createReceiver({ secret: SECRET, on }); // it says nothing of a store
    createJobProcessor({ on: { 'call:started': (event, { completeIn }) => completeIn(event) } });
  });

  it('refuse a misspelt event name everywhere', () => {
    expect(() =>
      createReceiver({
        secret: SECRET,
        // @ts-expect-error there is no such event
        on: { 'call:strated': () => undefined },
      }),
    ).toThrow('call:strated');
    expect(() =>
      createNodeHandler({
        secret: SECRET,
        // @ts-expect-error there is no such event
        on: { 'call:strated': () => undefined },
      }),
    ).toThrow('call:strated');
    expect(() =>
      createWebHandler({
        secret: SECRET,
        // @ts-expect-error there is no such event
        on: { 'call:strated': () => undefined },
      }),
    ).toThrow('call:strated');
    expect(() =>
      createJobProcessor({
        // @ts-expect-error there is no such event
        on: { 'call:strated': () => undefined },
      }),
    ).toThrow('call:strated');
  });

  it('refuse a handler of another event', () => {
    createReceiver({
      secret: SECRET,
      on: {
        // @ts-expect-error a started call is no recording
        'call:started': (event: CallRecordingAvailableEvent) => event.recordingUrl,
      },
    });
  });

  it('give extra events the type of their schema, next to the known ones', () => {
    createReceiver({
      secret: SECRET,
      events: { 'call:voicemail': voicemail },
      on: {
        'call:voicemail': (event) => same<typeof event, z.output<typeof voicemail>>(true),
        'call:started': (event) => same<typeof event, CallStartedEvent>(true),
      },
    });
    expect(() =>
      createReceiver({
        secret: SECRET,
        events: { 'call:voicemail': voicemail },
        // @ts-expect-error there is no such event, not even with extra ones
        on: { 'call:voicemial': () => undefined },
      }),
    ).toThrow('call:voicemial');
  });

  it('give a custom payload the type of its schema', () => {
    const schema = z.object({ id: z.string(), at: z.coerce.date() });
    createReceiver({
      secret: SECRET,
      custom: {
        schema,
        key: (payload) => {
          same<typeof payload, { id: string; at: Date }>(true);
          return payload.id;
        },
        handle: (payload, context) => {
          same<typeof payload, { id: string; at: Date }>(true);
          same<typeof context.key, string | undefined>(true);
        },
      },
    });
    createReceiver({
      secret: SECRET,
      // @ts-expect-error a key is a text
      custom: { schema, key: () => 5, handle: () => undefined },
    });
  });

  it('accept an environment variable as secret, and refuse an unknown option', () => {
    const fromEnvironment: string | undefined = ([] as string[])[0];
    expect(() => createReceiver({ secret: fromEnvironment })).toThrow('environment variable');
    // @ts-expect-error there is no such option
    expect(() => createReceiver({ secret: SECRET, tolerance: 5 })).toThrow('tolerance');
  });
});
