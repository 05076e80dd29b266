import { WebhookError } from '@call-webhooks/core';
import type { CallWebhooksStore } from './store-object.ts';

/** What is used of the binding of a Durable Object namespace. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  // `any`: the types of Workers ask for their own class of ids.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  get(id: any, options?: { locationHint?: any }): unknown;
}

/**
 * @param creator the function that was given the namespace, for the error's message
 * @throws WebhookError `invalid-options` for anything but a namespace
 */
export function checkNamespace(
  creator: string,
  namespace: Partial<ObjectNamespace> | null | undefined,
): asserts namespace is ObjectNamespace {
  if (typeof namespace?.idFromName === 'function' && typeof namespace.get === 'function') return;
  throw new WebhookError(
    'invalid-options',
    `Invalid namespace of ${creator}: expected the binding of a Durable Object class, such as env.CALL_WEBHOOKS. Is it in the configuration of the Worker, under durable_objects?`,
  );
}

type Methods = Omit<CallWebhooksStore, 'alarm' | '__DURABLE_OBJECT_BRAND'>;

/** The methods of `CallWebhooksStore`, as they are called from a Worker. */
export type StoreObject = {
  [Name in keyof Methods]: (
    ...values: Parameters<Methods[Name]>
  ) => Promise<Awaited<ReturnType<Methods[Name]>>>;
};
