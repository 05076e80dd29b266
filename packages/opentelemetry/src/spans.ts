import { AsyncLocalStorage } from 'node:async_hooks';
import { WebhookError, type Around } from '@call-webhooks/core';
import type {
  DeliveryMessage,
  DeliverySource,
  EnqueueMessage,
  HandlerMessage,
  StoreMessage,
} from '@call-webhooks/core/internal';
import {
  context,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
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
} from './attributes.ts';
import type { Listeners, Messages } from './channels.ts';
import type { EventLabels } from './event-labels.ts';
import { exceptionOf } from './exception.ts';
import { LeaseContexts } from './lease-contexts.ts';
import { fromCarrier, toCarrier } from './trace-context.ts';

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
  readonly #spans = new WeakMap<object, Span>();
  readonly #leases = new LeaseContexts();

  constructor(tracer: Tracer, labels: EventLabels) {
    this.#tracer = tracer;
    this.#labels = labels;
  }

  listen(listeners: Listeners): void {
    const step = <Name extends keyof Messages>(
      name: Name,
      start: (message: Messages[Name], parent: Context) => Span,
      end: (span: Span, message: Messages[Name]) => void,
    ) => {
      listeners.bind(name, this.#steps, (message) => {
        const active = context.active();
        const parent =
          name === 'delivery'
            ? active
            : (this.#leases.contextOf(message) ?? this.#steps.getStore() ?? active);
        const span = start(message, parent);
        this.#spans.set(message, span);
        if (name === 'store') this.#leases.onClaim(message as StoreMessage, parent);
        return trace.setSpan(parent, span);
      });
      listeners.onEnd(name, (message) => {
        const span = this.#spans.get(message);
        if (!span) return;
        end(span, message);
        span.end();
        if (name === 'store') this.#leases.onAnswer(message as StoreMessage);
      });
    };
    listeners.onOutcome(({ outcome }) => {
      this.#leases.onOutcome(outcome);
    });
    step('delivery', this.#startDelivery, this.#endDelivery);
    step('handler', this.#startHandler, endStep);
    step('store', this.#startStore, endStore);
    step('enqueue', this.#startEnqueue, endStep);
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

function endStore(span: Span, message: StoreMessage): void {
  if (message.result !== undefined) span.setAttributes(storeResult(message.result));
  endStep(span, message);
}
