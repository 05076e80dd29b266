import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { diag, type TracerProvider } from '@opentelemetry/api';
import { instrument, type Telemetry } from '@call-webhooks/opentelemetry';
import { fromCarrier, toCarrier } from '../src/trace-context.ts';
import { receiverOf } from './sdk.ts';

let telemetry: Telemetry | undefined;
afterEach(() => {
  telemetry?.close();
  diag.disable();
});

describe('instrument', () => {
  it('does nothing without an SDK', async () => {
    telemetry = instrument();
    const { send } = receiverOf({ around: telemetry.around, on: { 'call:started': () => 1 } });
    expect(await send({ eventName: 'call:started', callId: 'c' })).toBe('handled');
  });

  it('changes no outcome when the SDK throws', async () => {
    const errors = jest.fn();
    const quiet = () => undefined;
    diag.setLogger({ error: errors, warn: quiet, info: quiet, debug: quiet, verbose: quiet });
    const startSpan = () => {
      throw new Error('The SDK is broken');
    };
    const tracerProvider = { getTracer: () => ({ startSpan }) } as unknown as TracerProvider;
    telemetry = instrument({ tracerProvider });
    const { send } = receiverOf({ around: telemetry.around, on: { 'call:started': () => 1 } });
    expect(await send({ eventName: 'call:started', callId: 'c' })).toBe('handled');
    expect(errors).toHaveBeenCalled();
  });

  it.each([
    [{ retryLimit: 1 }, /retryLimit: expected a whole number from 2 to 1000/],
    [{ queues: { calls: 3 } }, /queues.calls: expected a function/],
    [{ tracerProvider: {} }, /tracerProvider: expected an object with getTracer/],
    [{ retries: 3 }, /instrument.*retries/],
  ])('refuses %p', (options, message) => {
    expect(() => instrument(options as never)).toThrow(message);
  });
});

describe('the trace context of a queued delivery', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const spanId = 'b7ad6b7169203331';

  it('comes out as it went in', () => {
    const traceparent = `00-${traceId}-${spanId}-01`;
    const span = fromCarrier({ traceparent, tracestate: 'vendor=1' });
    expect(span).toMatchObject({ traceId, spanId, traceFlags: 1, isRemote: true });
    expect(toCarrier(span!)).toEqual({ traceparent, tracestate: 'vendor=1' });
  });

  it.each([
    [undefined],
    [{}],
    [{ traceparent: 'x' }],
    [{ traceparent: `00-${'0'.repeat(32)}-${spanId}-01` }],
    [{ traceparent: 3 }],
    ['text'],
    [null],
  ])('is none for %p', (carrier) => {
    expect(fromCarrier(carrier as never)).toBeUndefined();
  });
});
