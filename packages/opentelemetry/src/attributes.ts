import { WebhookError, type Outcome } from '@call-webhooks/core';
import { redactId } from '@call-webhooks/core/internal';
import type { Attributes } from '@opentelemetry/api';

// Every attribute of a span or metric is named here. None holds a value of a body but ids and names
// of events; errors are redacted.

/** Where a delivery came from: `webhook`, `queue`, `redrive` or `reconcile`. */
export const SOURCE = 'call_webhooks.source';
export const EVENT = 'call_webhooks.event';
export const OUTCOME = 'call_webhooks.outcome';
/** `acknowledged`; `failed`: it is retried; `refused`: nobody knows who sent it. */
export const RESULT = 'call_webhooks.result';
export const QUEUE = 'call_webhooks.queue';
export const STATE = 'call_webhooks.state';
const TENANT = 'call_webhooks.tenant';
const ERROR_TYPE = 'error.type';
const CALL_ID = 'call_webhooks.call_id';
const KEY = 'call_webhooks.key';
const ATTEMPT = 'call_webhooks.attempt';
const ATTEMPTS_LEFT = 'call_webhooks.attempts_left';
const LAG = 'call_webhooks.lag_ms';
const SECRET_ID = 'call_webhooks.secret_id';
const STORE_OPERATION = 'call_webhooks.store.operation';
const STORE_STATUS = 'call_webhooks.store.status';
const MESSAGE_ID = 'messaging.message.id';
const METHOD = 'http.request.method';
const STATUS_CODE = 'http.response.status_code';

const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY'.split(' '));

/** @param type as in the semantic conventions */
export const messaging = (type: 'receive' | 'process' | 'send', name: string = type) => ({
  'messaging.system': 'call_webhooks',
  'messaging.operation.name': name,
  'messaging.operation.type': type,
});

/** An unknown method is `_OTHER`, since anybody can send any. */
export const httpMethod = (method: string): Attributes => ({
  [METHOD]: METHODS.has(method) ? method : '_OTHER',
});

/** What identifies a delivery and its event. */
export function identity(of: {
  tenant?: string | undefined;
  webhookId?: string | undefined;
  eventName?: string | undefined;
  callId?: string | undefined;
  key?: string | undefined;
  attempt?: number | undefined;
}): Attributes {
  return present({
    // Not in metrics: there may be any number of tenants. It is redacted unless it is verified.
    [TENANT]: of.tenant,
    [MESSAGE_ID]: text(of.webhookId),
    [EVENT]: text(of.eventName),
    [CALL_ID]: text(of.callId),
    [KEY]: text(of.key),
    [ATTEMPT]: of.attempt,
  });
}

export function outcomeAttributes(outcome: Outcome): Attributes {
  const { attemptsLeft, lagMs, secretId, source, status } = outcome;
  return present({
    ...identity(outcome),
    [SOURCE]: source,
    [OUTCOME]: outcome.outcome,
    [ATTEMPTS_LEFT]: attemptsLeft,
    [LAG]: lagMs,
    [SECRET_ID]: text(secretId),
    [STATUS_CODE]: source === 'webhook' ? status : undefined,
    [ERROR_TYPE]: outcome.error?.code ?? (status >= 400 ? outcome.outcome : undefined),
  });
}

export const storeAttributes = (operation: string, key: string | undefined): Attributes =>
  present({ [STORE_OPERATION]: operation, [KEY]: text(key) });

/** @param result an admission, or whether the token still held the lease */
export const storeResult = (result: { status: string } | boolean): Attributes => ({
  [STORE_STATUS]: typeof result === 'boolean' ? (result ? 'held' : 'lost') : result.status,
});

/** The code of an error, or nothing of one that may hold anything. */
export const errorType = (error: unknown): Attributes => ({
  [ERROR_TYPE]: error instanceof WebhookError ? error.code : '_OTHER',
});

const text = (value: string | undefined) => (value === undefined ? undefined : redactId(value));

const present = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
