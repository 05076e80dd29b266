import { AsyncLocalStorage } from 'node:async_hooks';
import { WebhookError, type Around, type DeliverySource } from '@call-webhooks/core';
import {
  loggedFailure,
  type DeliveryMessage,
  type StoreMessage,
} from '@call-webhooks/core/internal';
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Exception,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import {
  errorType,
  httpMethod,
  identity,
  messaging,
  outcomeAttributes,
  storeAttributes,
  storeResult,
  type EventLabels,
} from './attributes.ts';
import type { Listeners, Messages } from './channels.ts';

/** What the span of a delivery is named after, by its source. */
const OPERATIONS: Record<DeliverySource, string> = {
  webhook: 'receive',
  queue: 'process',
  redrive: 'redrive',
  reconcile: 'reconcile',
};

/**
 * The maximum number of leases whose renewals are in the span of their delivery; renewals of older ones
 * are root spans.
 */
const MAX_HELD = 2_000;

/**
 * Makes a span of each step. The steps of a delivery are children of its span.
 * @returns makes the handler's span the active one, so that it is the parent of those in the handler
 */
export function listenForSpans(listeners: Listeners, tracer: Tracer, labels: EventLabels): Around {
  const steps = new AsyncLocalStorage<Context | undefined>();
  const started = new WeakMap<object, { span: Span; parent: Context }>();
  /** The contexts of events whose lease is held, by key, from its claim to the outcome of the run. */
  const held = new Map<string, Context>();
  function hold(key: string, parent: Context): void {
    held.delete(key);
    held.set(key, parent);
    // Handlers that never end would fill it.
    for (const oldest of held.keys())
      if (held.size > MAX_HELD) held.delete(oldest);
      else break;
  }

  const nameOf = (operation: string, eventName: string | undefined): string =>
    eventName === undefined ? operation : `${operation} ${labels.of(eventName)}`;

  function parentOf(name: keyof Messages, message: Messages[keyof Messages]): Context {
    const active = context.active();
    if (name === 'delivery') return active;
    const { operation, key = '' } = message as Partial<StoreMessage>;
    // Core renews all leases with one timer, which runs in the context of any delivery.
    if (operation === 'extend') return held.get(key) ?? ROOT_CONTEXT;
    return steps.getStore() ?? active;
  }

  function step<Name extends keyof Messages>(
    name: Name,
    start: (message: Messages[Name], parent: Context) => Span,
    end: (span: Span, message: Messages[Name], parent: Context) => void = endStep,
  ): void {
    listeners.bind(name, steps, (message) => {
      const parent = parentOf(name, message);
      const span = start(message, parent);
      started.set(message, { span, parent });
      return trace.setSpan(parent, span);
    });
    listeners.onEnd(name, (message) => {
      const { span, parent } = started.get(message) ?? {};
      if (!span || !parent) return;
      end(span, message, parent);
      span.end();
    });
  }

  function startDelivery(message: DeliveryMessage, parent: Context): Span {
    const { method = 'POST', queued, source } = message;
    const operation = OPERATIONS[source];
    const name = nameOf(operation, queued?.eventName);
    if (source === 'webhook') {
      // Within a span of the HTTP server, this is not one more request.
      const kind = trace.getSpan(parent) ? SpanKind.INTERNAL : SpanKind.SERVER;
      const attributes = { ...messaging('receive'), ...httpMethod(method) };
      return tracer.startSpan(name, { kind, attributes }, parent);
    }
    const enqueued = fromCarrier(queued?.trace);
    const options = {
      kind: queued ? SpanKind.CONSUMER : SpanKind.INTERNAL,
      links: enqueued ? [{ context: enqueued }] : [],
      attributes: { ...messaging('process', operation), ...(queued && identity(queued)) },
    };
    return tracer.startSpan(name, options, parent);
  }

  function endDelivery(span: Span, { result }: DeliveryMessage): void {
    if (!result) return;
    const { outcome } = result;
    const { error, eventName, source, status } = outcome;
    if (eventName !== undefined) span.updateName(nameOf(OPERATIONS[source], eventName));
    span.setAttributes(outcomeAttributes(outcome));
    // A refused request is no error of the server.
    const isFailure = status >= (source === 'webhook' ? 500 : 400);
    if (!isFailure && outcome.outcome !== 'dead-lettered') return;
    const message = error?.message;
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }

  step('delivery', startDelivery, endDelivery);
  step('handler', (message, parent) => {
    const name = nameOf('handle', message.eventName);
    return tracer.startSpan(name, { attributes: identity(message) }, parent);
  });
  step(
    'store',
    ({ operation, key }, parent) => {
      const attributes = storeAttributes(operation, key);
      return tracer.startSpan(`store ${operation}`, { attributes }, parent);
    },
    (span, message, parent) => {
      const { key, operation, result } = message;
      if (result !== undefined) span.setAttributes(storeResult(result));
      const isHeld = typeof result === 'object' && result.status === 'admitted';
      if (operation === 'admit' && key !== undefined && isHeld) hold(key, parent);
      endStep(span, message);
    },
  );
  step('enqueue', ({ delivery }, parent) => {
    const attributes = { ...messaging('send'), ...identity(delivery) };
    const options = { kind: SpanKind.PRODUCER, attributes };
    const span = tracer.startSpan(nameOf('send', delivery.eventName), options, parent);
    const carrier = toCarrier(span.spanContext());
    if (carrier) delivery.trace = carrier;
    return span;
  });
  listeners.onOutcome(({ outcome: { outcome, key, attempt } }) => {
    // Only who held the lease has an attempt. After `deadline`, the run goes on.
    const isOver = attempt !== undefined && outcome !== 'deadline';
    if (key !== undefined && isOver) held.delete(key);
  });

  return (run) => {
    const current = steps.getStore();
    const span = current && trace.getSpan(current);
    return span ? context.with(trace.setSpan(context.active(), span), run) : run();
  };
}

/** The error of a message is redacted. */
function endStep(span: Span, { error }: { error?: unknown }): void {
  if (error === undefined) return;
  span.setAttributes(errorType(error));
  if (!(error instanceof WebhookError)) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    return;
  }
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
  span.recordException(exceptionOf(error));
}

/** What a step threw, with its class and its causes, redacted as in log lines. */
function exceptionOf(failure: WebhookError): Exception {
  const { err = failure } = loggedFailure(failure);
  // Without `code`, which would become the type.
  return { name: err.name, message: err.message, stack: stackOf(err) };
}

/** The copy of an error in a log line has no cycles, and few causes. */
function stackOf(error: Error): string {
  const { name, message, stack = `${name}: ${message}`, cause } = error;
  const { errors = [] } = error as { errors?: readonly Error[] };
  const parts = errors.map((part) => `one of: ${stackOf(part)}`);
  if (cause instanceof Error) parts.push(`caused by: ${stackOf(cause)}`);
  return [stack, ...parts].join('\n');
}

/** For `QueuedDelivery.trace`, as W3C headers. @returns `undefined` for a span that is not recorded */
function toCarrier(context: SpanContext): Record<string, string> | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags } = context;
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}` };
}

/** @returns `undefined` for anything but a valid `traceparent` */
function fromCarrier(carrier: Record<string, string> | undefined): SpanContext | undefined {
  const { traceparent } = Object(carrier) as { traceparent?: unknown };
  const match = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(String(traceparent));
  if (!match) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = match;
  const context = { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}
