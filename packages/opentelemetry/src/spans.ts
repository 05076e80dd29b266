import { AsyncLocalStorage } from 'node:async_hooks';
import { WebhookError, type Around } from '@call-webhooks/core';
import {
  loggedFailure,
  type DeliveryMessage,
  type DeliverySource,
  type EnqueueMessage,
  type HandlerMessage,
  type StoreMessage,
} from '@call-webhooks/core/internal';
import {
  context,
  createTraceState,
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

/** Makes a span of each step. The steps of a delivery are children of its span. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #labels: EventLabels;
  readonly #steps = new AsyncLocalStorage<Context | undefined>();
  readonly #started = new WeakMap<object, { span: Span; parent: Context }>();
  /** The contexts of events whose lease is held, by key, from its claim to the outcome of the run. */
  readonly #held = new Map<string, Context>();

  constructor(tracer: Tracer, labels: EventLabels) {
    this.#tracer = tracer;
    this.#labels = labels;
  }

  listen(listeners: Listeners): void {
    const step = <Name extends keyof Messages>(
      name: Name,
      start: (message: Messages[Name], parent: Context) => Span,
      end: (span: Span, message: Messages[Name], parent: Context) => void,
    ) => {
      listeners.bind(name, this.#steps, (message) => {
        const parent = this.#parentOf(name, message);
        const span = start(message, parent);
        this.#started.set(message, { span, parent });
        return trace.setSpan(parent, span);
      });
      listeners.onEnd(name, (message) => {
        const { span, parent } = this.#started.get(message) ?? {};
        if (!span || !parent) return;
        end(span, message, parent);
        span.end();
      });
    };
    step('delivery', this.#startDelivery, this.#endDelivery);
    step('handler', this.#startHandler, endStep);
    step('store', this.#startStore, this.#endStore);
    step('enqueue', this.#startEnqueue, endStep);
    listeners.onOutcome(({ outcome: { outcome, key, attempt } }) => {
      // Only who held the lease has an attempt. After `deadline`, the run goes on.
      const isOver = attempt !== undefined && outcome !== 'deadline';
      if (key !== undefined && isOver) this.#held.delete(key);
    });
  }

  #parentOf(name: keyof Messages, message: Messages[keyof Messages]): Context {
    const active = context.active();
    if (name === 'delivery') return active;
    const { operation, key = '' } = message as Partial<StoreMessage>;
    // Core renews all leases with one timer, which runs in the context of any delivery.
    if (operation === 'extend') return this.#held.get(key) ?? ROOT_CONTEXT;
    return this.#steps.getStore() ?? active;
  }

  /** Makes the handler's span the active one, so that it is the parent of those in the handler. */
  readonly around: Around = (run) => {
    const step = this.#steps.getStore();
    const span = step && trace.getSpan(step);
    return span ? context.with(trace.setSpan(context.active(), span), run) : run();
  };

  readonly #startDelivery = (message: DeliveryMessage, parent: Context): Span => {
    const { method = 'POST', queued, source } = message;
    const operation = OPERATIONS[source];
    const name = this.#name(operation, queued?.eventName);
    if (source === 'webhook') {
      // Within a span of the HTTP server, this is not one more request.
      const kind = trace.getSpan(parent) ? SpanKind.INTERNAL : SpanKind.SERVER;
      const attributes = { ...messaging('receive'), ...httpMethod(method) };
      return this.#tracer.startSpan(name, { kind, attributes }, parent);
    }
    const enqueued = fromCarrier(queued?.trace);
    const options = {
      kind: queued ? SpanKind.CONSUMER : SpanKind.INTERNAL,
      links: enqueued ? [{ context: enqueued }] : [],
      attributes: { ...messaging('process', operation), ...(queued && identity(queued)) },
    };
    return this.#tracer.startSpan(name, options, parent);
  };

  readonly #endDelivery = (span: Span, { result }: DeliveryMessage): void => {
    if (!result) return;
    const { outcome } = result;
    const { error, eventName, source, status } = outcome;
    if (eventName !== undefined) span.updateName(this.#name(OPERATIONS[source], eventName));
    span.setAttributes(outcomeAttributes(outcome));
    // A refused request is no error of the server.
    const isFailure = status >= (source === 'webhook' ? 500 : 400);
    if (!isFailure && outcome.outcome !== 'dead-lettered') return;
    const message = error?.message;
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  };

  readonly #startHandler = (message: HandlerMessage, parent: Context): Span => {
    const name = this.#name('handle', message.eventName);
    return this.#tracer.startSpan(name, { attributes: identity(message) }, parent);
  };

  readonly #startStore = ({ operation, key }: StoreMessage, parent: Context): Span => {
    const attributes = storeAttributes(operation, key);
    return this.#tracer.startSpan(`store ${operation}`, { attributes }, parent);
  };

  readonly #endStore = (span: Span, message: StoreMessage, parent: Context): void => {
    const { key, operation, result } = message;
    if (result !== undefined) span.setAttributes(storeResult(result));
    const isHeld = typeof result === 'object' && result.status === 'admitted';
    if (operation === 'admit' && key !== undefined && isHeld) this.#held.set(key, parent);
    endStep(span, message);
  };

  readonly #startEnqueue = ({ delivery }: EnqueueMessage, parent: Context): Span => {
    const attributes = { ...messaging('send'), ...identity(delivery) };
    const options = { kind: SpanKind.PRODUCER, attributes };
    const span = this.#tracer.startSpan(this.#name('send', delivery.eventName), options, parent);
    const carrier = toCarrier(span.spanContext());
    if (carrier) delivery.trace = carrier;
    return span;
  };

  #name(operation: string, eventName: string | undefined): string {
    return eventName === undefined ? operation : `${operation} ${this.#labels.of(eventName)}`;
  }
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

/** The trace context of a queued delivery, as W3C headers. */
type Carrier = Record<string, string>;

/** For `QueuedDelivery.trace`. @returns `undefined` for a span that nobody records */
function toCarrier(context: SpanContext): Carrier | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const flags = traceFlags.toString(16).padStart(2, '0');
  const tracestate = traceState?.serialize() ?? '';
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate !== '' && { tracestate }),
  };
}

/** @returns `undefined` for anything but a valid `traceparent` */
function fromCarrier(carrier: Carrier | undefined): SpanContext | undefined {
  const { traceparent, tracestate } = (carrier ?? {}) as Partial<Carrier>;
  const match = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(String(traceparent));
  if (!match) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = match;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}
