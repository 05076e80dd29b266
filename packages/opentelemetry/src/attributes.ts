import { EVENT_NAMES, WebhookError, type Outcome } from '@call-webhooks/core';
import { redactEventName, redactId } from '@call-webhooks/core/internal';
import type { Attributes } from '@opentelemetry/api';

/** The name of the tracer and the meter. */
export const SCOPE = '@call-webhooks/opentelemetry';

// Every attribute of a span or metric is named here. None holds a value of a body but ids and names
// of events; errors are redacted.

/** Where a delivery came from: `webhook`, `queue`, `redrive` or `reconcile`. */
export const SOURCE = 'call_webhooks.source';
export const EVENT = 'call_webhooks.event';
export const OUTCOME = 'call_webhooks.outcome';
/** `acknowledged`; `failed`: it is retried; `rejected`: the sender is unknown. */
export const RESULT = 'call_webhooks.result';
export const QUEUE = 'call_webhooks.queue';
export const STATE = 'call_webhooks.state';
/** What needs attention: a kind of `status()`. */
export const KIND = 'call_webhooks.kind';
/** Whether the service may pause a rule, or may have done so. */
export const URGENT = 'call_webhooks.urgent';
const KEY = 'call_webhooks.key';
const ERROR_TYPE = 'error.type';

const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY'.split(' '));

/** @param type as in the semantic conventions */
export const messaging = (type: 'receive' | 'process' | 'send', name: string = type) => ({
  'messaging.system': 'call_webhooks',
  'messaging.operation.name': name,
  'messaging.operation.type': type,
});

/** An unknown method is `_OTHER`, since any client can send any method. */
export const httpMethod = (method: string): Attributes => ({
  'http.request.method': METHODS.has(method) ? method : '_OTHER',
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
    'call_webhooks.tenant': of.tenant,
    'messaging.message.id': redacted(of.webhookId),
    [EVENT]: of.eventName === undefined ? undefined : redactEventName(of.eventName),
    'call_webhooks.call_id': redacted(of.callId),
    [KEY]: redacted(of.key),
    'call_webhooks.attempt': of.attempt,
  });
}

export function outcomeAttributes(outcome: Outcome): Attributes {
  const { attemptsLeft, lagMs, secretId, source, status } = outcome;
  return present({
    ...identity(outcome),
    [SOURCE]: source,
    [OUTCOME]: outcome.outcome,
    'call_webhooks.attempts_left': attemptsLeft,
    'call_webhooks.lag_ms': lagMs,
    'call_webhooks.secret_id': redacted(secretId),
    'http.response.status_code': source === 'webhook' ? status : undefined,
    [ERROR_TYPE]: outcome.error?.code ?? (status >= 400 ? outcome.outcome : undefined),
  });
}

export const storeAttributes = (operation: string, key: string | undefined): Attributes =>
  present({ 'call_webhooks.store.operation': operation, [KEY]: redacted(key) });

/** @param result an admission, or whether the token still held the lease */
export const storeResult = (result: { status: string } | boolean): Attributes => ({
  'call_webhooks.store.status':
    typeof result === 'boolean' ? (result ? 'held' : 'lost') : result.status,
});

/** The code of an error, or nothing of one that may hold anything. */
export const errorType = (error: unknown): Attributes => ({
  [ERROR_TYPE]: error instanceof WebhookError ? error.code : '_OTHER',
});

const redacted = (value: string | undefined) => (value === undefined ? undefined : redactId(value));

const present = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

const MAX_LABEL_LENGTH = 100;
/** The number of names besides the service's that have their own label. */
const MAX_OTHERS = 20;

/**
 * Names of events for metrics and span names, which must be few. The service's events have their own,
 * and so do the first others that are seen. The rest share one.
 */
export class EventLabels {
  readonly #labels = new Set<string>(EVENT_NAMES);

  /** @returns `none` without a name, as for a custom payload; `other` once there are too many */
  of(eventName: string | undefined): string {
    if (eventName === undefined) return 'none';
    const label = redactEventName(eventName).slice(0, MAX_LABEL_LENGTH);
    if (this.#labels.has(label)) return label;
    if (this.#labels.size >= EVENT_NAMES.length + MAX_OTHERS) return 'other';
    this.#labels.add(label);
    return label;
  }
}
