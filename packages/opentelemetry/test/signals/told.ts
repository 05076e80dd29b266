import diagnostics from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { collectingLogger } from '@call-webhooks/contract-tests';
import type { ErrorInfo, Outcome } from '@call-webhooks/core';
import { SpanKind, SpanStatusCode, type Attributes } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { idOf, parentOf, startSdk } from '../sdk.ts';

type Call = { hook: 'onOutcome'; outcome: Outcome } | { hook: 'onError'; info: ErrorInfo };

/** Collects all that is told of a delivery, in log lines, spans, metrics, channels and hooks. */
export async function listen() {
  const sdk = startSdk();
  const logger = collectingLogger();
  const calls: Call[] = [];
  const errors: unknown[] = [];
  const published: unknown[] = [];
  const stop = subscribe((message) => void published.push(message));
  let before = await sdk.allPoints();
  return {
    logger,
    errors,
    hooks: {
      logger,
      around: sdk.telemetry.around,
      onOutcome: (outcome: Outcome) => void calls.push({ hook: 'onOutcome', outcome }),
      onError(error: unknown, info: ErrorInfo) {
        errors.push(error);
        calls.push({ hook: 'onError', info });
      },
    },
    /** The code of the last outcome that `onOutcome` was told. */
    lastOutcome: () => calls.findLast((call) => call.hook === 'onOutcome')?.outcome.outcome,
    /** Forgets what was told so far. */
    async reset() {
      sdk.resetSpans();
      for (const list of [logger.entries, logger.lines, calls, errors, published]) list.length = 0;
      before = await sdk.allPoints();
    },
    /** One line for each signal. */
    async signals(): Promise<string> {
      const metrics = (await sdk.allPoints()).map((point) => {
        const was = before.find((other) => seriesOf(other) === seriesOf(point))?.value ?? 0;
        return { ...point, value: point.value - was };
      });
      return [
        ...logger.entries.map(
          ({ level, message, fields }) => `log ${level}: ${message} ${shown(fields)}`,
        ),
        ...sdk.spans().map((span) => `span ${spanText(span, sdk.spans())}`),
        ...metrics
          .filter(({ value }) => value !== 0)
          .map((point) => `metric ${seriesOf(point)} +${String(point.value)}`),
        ...calls.map(({ hook, ...argument }) => `${hook} ${shown(Object.values(argument)[0])}`),
      ].join('\n');
    },
    /** Everything that leaves the process or reaches a hook, but for the errors of `onError`. */
    async everything() {
      const spans = sdk.spans().map(({ name, attributes, status, events, links }) => ({
        name,
        attributes,
        status,
        events,
        links,
      }));
      const all = { spans, metrics: await sdk.allPoints(), published, calls };
      return {
        lines: logger.lines.join('\n'),
        rest: inspect(all, { depth: 10, showHidden: true }),
      };
    },
    async close() {
      stop();
      await sdk.close();
    },
  };
}

/** The messages of all channels, without what a request or a queued delivery brought. */
function subscribe(onMessage: (message: unknown) => void): () => void {
  const listener = (message: unknown) => {
    const {
      method: _method,
      headers: _headers,
      queued: _queued,
      delivery: _delivery,
      ...rest
    } = message as Record<string, unknown>;
    onMessage(rest);
  };
  const names = ['delivery', 'handler', 'store', 'enqueue'].map(
    (name) => `tracing:call-webhooks:${name}:asyncEnd`,
  );
  names.push('call-webhooks:outcome');
  for (const name of names) diagnostics.subscribe(name, listener);
  return () => {
    for (const name of names) diagnostics.unsubscribe(name, listener);
  };
}

const seriesOf = ({ name, attributes }: { name: string; attributes: object }) =>
  `${name} ${shown(attributes)}`;

function spanText(span: ReadableSpan, all: ReadableSpan[]): string {
  const { name, kind, status, attributes, events, links } = span;
  const parent = all.find((other) => idOf(other) === parentOf(span));
  return [
    `"${name}"`,
    SpanKind[kind],
    ...(parent ? [`in "${parent.name}"`] : []),
    ...(links.length > 0 ? ['linked'] : []),
    SpanStatusCode[status.code] + (status.message === undefined ? '' : ` "${status.message}"`),
    shown(attributes),
    ...events.map(({ name, attributes = {} }) => `${name}: ${exceptionText(attributes)}`),
  ].join(' ');
}

/** The type and the message, and the causes in the stack, without frames. */
function exceptionText(attributes: Attributes): string {
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) =>
    String(attributes[`exception.${name}`]),
  );
  const lines = stack!.split('\n').filter((line) => !/^\s+at /.test(line));
  return [`${type!}: ${message!}`, ...lines.slice(1)].join(' ');
}

/** Errors without their frames, which differ between machines. */
const shown = (value: unknown): string =>
  inspect(withoutFrames(value), { breakLength: Infinity, compact: true, depth: 5 });

function withoutFrames(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, code, cause } = value as Error & { code?: unknown };
    return {
      name,
      message,
      ...(code !== undefined && { code }),
      ...(cause !== undefined && { cause: withoutFrames(cause) }),
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withoutFrames(part)]),
  );
}
