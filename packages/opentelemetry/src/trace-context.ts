import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** The trace context of a queued delivery, as W3C headers. */
type Carrier = Record<string, string>;

/** For `QueuedDelivery.trace`. @returns `undefined` for a span that nobody records */
export function toCarrier(context: SpanContext): Carrier | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const flags = traceFlags.toString(16).padStart(2, '0');
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate !== undefined && tracestate !== '' && { tracestate }),
  };
}

/** @returns `undefined` for anything but a valid `traceparent` */
export function fromCarrier(carrier: Carrier | undefined): SpanContext | undefined {
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
