import {
  memoryStore,
  type CallCompletedEvent,
  type HandlerContext,
  type ReceiverOptions,
  type Store,
} from '@call-webhooks/core';

/** What a test passes to the program that it runs in another runtime. */
export interface Settings {
  secret: string;
  /** The URL of the server that says what becomes of a run. */
  control: string;
}

/** What the three receivers of a program are made with. */
export type Options = ReceiverOptions<{}, never>;

/**
 * The options of the receivers that every runtime serves, by path. They share a store. Their handlers
 * ask the test what to do, so it can keep them running and make them fail.
 */
export function receiverOptions(
  { secret, control }: Settings,
  store: Store = memoryStore(),
): Record<string, Options> {
  const onCompleted = async (event: CallCompletedEvent, { attempt }: HandlerContext) => {
    const url = `${control}/${String(event.callId)}/${String(attempt)}`;
    const { ok } = await fetch(url);
    if (!ok) throw new Error('the CRM is down');
  };
  const logger = { warn: () => undefined, error: () => undefined };
  const shared = {
    secret,
    store,
    logger,
    bodyLimit: 10_000,
    on: { 'call:completed': onCompleted },
  };
  return {
    '/hook': shared,
    '/short-deadline': { ...shared, ackWithin: 500 },
    '/short-body-timeout': { ...shared, bodyTimeout: 1_000 },
  };
}
