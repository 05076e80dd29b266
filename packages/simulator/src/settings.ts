import { randomUUID } from 'node:crypto';
import type { CallDetails } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import { DEFAULT_WORKSPACE } from './activity/directory.ts';
import type { BodyFieldNames } from './calls/payloads.ts';
import { milliseconds } from './clock/duration.ts';
import type { SimulatorOptions } from './options.ts';
import { SimulatorError } from './simulator-error.ts';

/** The checked options, with all defaults. Durations are milliseconds. */
export type Settings = ReturnType<typeof resolveSettings>;

/** @throws SimulatorError `invalid-input`, naming the option */
export function resolveSettings(options: SimulatorOptions) {
  const { rateLimit } = options;
  return {
    port: whole('port', options.port ?? 0, 0, 65_535),
    clock: oneOf('clock', options.clock ?? 'real', ['real', 'manual'] as const),
    startAt: options.startAt === undefined ? undefined : whole('startAt', options.startAt, 0),
    seed: String(options.seed ?? randomUUID()),
    retryEvery: milliseconds(options.retryEvery ?? '5m'),
    retryJitter: part('retryJitter', options.retryJitter ?? 0.1),
    maxAttempts: whole('maxAttempts', options.maxAttempts ?? 6, 1, 1_000),
    acknowledgeWithin: milliseconds(options.acknowledgeWithin ?? '30s'),
    whilePaused: oneOf('whilePaused', options.whilePaused ?? 'drop', ['drop', 'hold'] as const),
    recordingFirst: part('recordingFirst', options.recordingFirst ?? 0.5),
    headerPrefix: options.headerPrefix ?? 'X-Service',
    extraHeaders: options.extraHeaders ?? { 'User-Agent': 'call-webhooks-simulator' },
    fieldNames: bodyFieldNames(options.fieldNames ?? {}),
    timestamps: oneOf('timestamps', options.timestamps ?? 'wall', ['wall', 'clock'] as const),
    wallClock: options.wallClock ?? (() => Date.now()),
    chaos: options.chaos ?? {},
    slowBodyMs: whole('slowBodyMs', options.slowBodyMs ?? 200, 0, 60_000),
    maxInFlight: whole('maxInFlight', options.maxInFlight ?? 64, 1, 10_000),
    patience: whole('patience', options.patience ?? 1_000, 1, 600_000),
    keepDeliveries: whole('keepDeliveries', options.keepDeliveries ?? 100_000, 1),
    allowExternal: options.allowExternal ?? false,
    tls: options.tls ?? {},
    apiToken: options.apiToken,
    rateLimit: rateLimit && {
      requests: whole('rateLimit.requests', rateLimit.requests, 1),
      every: milliseconds(rateLimit.every),
    },
    pageSize: whole('pageSize', options.pageSize ?? 50, 1, 500),
    untilIncludesDay: options.untilIncludesDay ?? true,
    workspace: options.workspace ?? DEFAULT_WORKSPACE,
    baseUrl: options.baseUrl,
    db: options.db,
  };
}

function bodyFieldNames(names: NonNullable<SimulatorOptions['fieldNames']>): BodyFieldNames {
  const chosen = Object.entries(names).filter(([, name]) => name !== undefined);
  const all = { ...DEFAULT_FIELD_NAMES, ...Object.fromEntries(chosen) };
  if (Object.keys(all).length > Object.keys(DEFAULT_FIELD_NAMES).length)
    throw invalid('fieldNames', `some of ${Object.keys(DEFAULT_FIELD_NAMES).join(', ')}`);
  return all satisfies Record<keyof CallDetails, string>;
}

function whole(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw invalid(name, `a whole number from ${String(min)} to ${String(max)}`);
}

function part(name: string, value: number): number {
  if (value >= 0 && value <= 1) return value;
  throw invalid(name, 'a number from 0 to 1');
}

function oneOf<const Value extends string>(
  name: string,
  value: Value,
  values: readonly Value[],
): Value {
  if (values.includes(value)) return value;
  throw invalid(name, values.map((one) => `"${one}"`).join(' or '));
}

const invalid = (name: string, expected: string) =>
  new SimulatorError('invalid-input', `The option ${name} must be ${expected}.`);
