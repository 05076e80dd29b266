import {
  checkOptions,
  type EventState,
  option,
  storableKey,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core/stores';
import { checkNamespace, type ObjectNamespace, type StoreObject } from './namespace.ts';
import type { StoredClaim } from './store-object.ts';

/** The options of `durableObjectStore`. */
export interface DurableObjectStoreOptions {
  /**
   * The name of the Durable Object; `call-webhooks` by default. Each tenant has its own object, whose
   * name begins with it.
   */
  name?: string | undefined;
  /**
   * How long a handled event is recognized as a duplicate, in milliseconds: 600,000 (10 minutes) to 10
   * years, by default 86,400,000 (24 hours).
   */
  rememberFor?: number | undefined;
  /**
   * The clock of the receiver, in milliseconds since the epoch, with which expired webhook ids are
   * recognized; `Date.now` by default. Everything else uses the clock of the object.
   */
  now?: (() => number) | undefined;
  /**
   * Where Cloudflare should create the objects, such as `weur`; by default, near the first delivery.
   */
  locationHint?: string | undefined;
}

const rules = () => ({
  name: option.default(
    option.text(/^.{1,256}$/s, 'expected a name of 1 to 256 characters'),
    'call-webhooks',
  ),
  rememberFor: option.rememberFor(),
  now: option.default(option.function<() => number>(), () => () => Date.now()),
  locationHint: option.optional(option.string()),
});

/** The tenant in a key or a webhook id. */
const TENANT = /^tenant:[^:]{1,384}(?=:)/;

/**
 * Creates a store in Durable Objects: one for each tenant, or a single one without tenants. What it has
 * confirmed survives a restart.
 *
 * A call that fails because its object was restarted is repeated once.
 * @param namespace the binding of the class `CallWebhooksStore`
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks((env: Env) => ({
 *   secret: env.CALL_WEBHOOK_SECRET,
 *   store: durableObjectStore(env.CALL_WEBHOOKS),
 * }));
 */
export function durableObjectStore(
  namespace: ObjectNamespace,
  options: DurableObjectStoreOptions = {},
): StoreWithoutCompleteIn {
  const { name, rememberFor, locationHint, now } = checkOptions(
    'durableObjectStore',
    rules(),
    options,
  );
  checkNamespace('durableObjectStore', namespace);

  /** The name of the object that has a key or a webhook id. An event and its group have the same one. */
  function nameOf(key = ''): string {
    const [tenant] = TENANT.exec(key) ?? [];
    return tenant === undefined ? name : `${name}:${tenant}`;
  }

  function objectOf(key: string | undefined): StoreObject {
    const id = namespace.idFromName(nameOf(key));
    return namespace.get(id, locationHint === undefined ? {} : { locationHint }) as StoreObject;
  }

  async function ask<Answer>(
    key: string | undefined,
    call: (object: StoreObject) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await call(objectOf(key));
    } catch (error) {
      // Every call may be repeated: it changes nothing twice. `release` and `reopen` then answer false.
      if (!isRetryable(error)) throw error;
      return call(objectOf(key)); // a stub that has failed stays broken
    }
  }

  /** Asks the object of a key about the key as it is stored. */
  async function askAbout<Answer>(
    key: string,
    call: (object: StoreObject, stored: string) => Promise<Answer>,
  ): Promise<Answer> {
    const stored = await storableKey(key);
    return ask(key, (object) => call(object, stored));
  }

  return {
    name: 'Durable Objects',
    rememberFor,
    async admit({ webhookId, key, group, replayUntil, ...claim }) {
      const stored: StoredClaim = {
        ...claim,
        // The clock of the object may differ from that of the receiver.
        keepIdMs: Math.max(1, replayUntil - now()),
        rememberFor,
        webhookId: await storableKey(webhookId),
        key: key === undefined ? undefined : await storableKey(key),
        group: group === undefined ? undefined : await storableKey(group),
      };
      if (key !== undefined && nameOf(key) !== nameOf(webhookId)) {
        // Only one of them looks like a tenant's. The id is remembered in its own object first.
        const keyless = { ...stored, key: undefined, group: undefined };
        const seen = await ask(webhookId, (object) => object.admit(keyless));
        if (seen.status !== 'admitted') return seen;
      }
      return ask(key ?? webhookId, (object) => object.admit(stored));
    },
    complete: (key, token, mark) =>
      askAbout(key, (object, stored) => object.complete(stored, token, mark)),
    release: (key, token) => askAbout(key, (object, stored) => object.release(stored, token)),
    extend: (key, token, leaseMs) =>
      askAbout(key, (object, stored) => object.extend(stored, token, leaseMs)),
    reopen: (key) => askAbout(key, (object, stored) => object.reopen(stored)),
    async forget(keys) {
      let known = 0;
      for (const key of keys)
        known += await askAbout(key, (object, stored) => object.forget([stored]));
      return known;
    },
    async peek(keys) {
      const states = new Map<string, EventState | undefined>();
      for (const name of new Set(keys.map(nameOf))) {
        const own = keys.filter((key) => nameOf(key) === name);
        const stored = await Promise.all(own.map(async (key) => storableKey(key)));
        const found = await ask(own[0], (object) => object.peek(stored));
        for (const [index, key] of own.entries()) states.set(key, found[index]);
      }
      return keys.map((key) => states.get(key));
    },
    async loadCursor(cursorName) {
      const stored = await storableKey(cursorName);
      return ask(undefined, (object) => object.loadCursor(stored));
    },
    async saveCursor(cursorName, cursor) {
      const stored = await storableKey(cursorName);
      await ask(undefined, (object) => object.saveCursor(stored, cursor));
    },
    ping: () => ask(undefined, (object) => object.ping()),
  };
}

/** Cloudflare marks errors after which the same call may succeed. An overloaded object needs fewer calls. */
const isRetryable = (error: unknown): boolean => {
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
};
