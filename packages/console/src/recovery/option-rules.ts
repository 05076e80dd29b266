import type { FieldNames } from '@call-webhooks/core';
import { option } from '@call-webhooks/core/internal';
import type { CallsClient, ReconcileStore, ToEvents } from '@call-webhooks/recovery';
import type { ConsoleReconcile } from './reconcile-runs.ts';
import type { ConsoleRedrive } from './redrive-tasks.ts';

/** Tenants and times are checked by `redrive`. */
export const redriveRules = () =>
  ({
    defaultTenant: option.optional(option.string()),
    concurrency: option.optional(option.count(1, 1_000)),
    leaseFor: option.optional(option.milliseconds(1_000, 3_600_000)),
  }) satisfies Record<keyof ConsoleRedrive, unknown>;

/** `reconcile` checks them too, but only when somebody starts one. */
export const reconcileRules = () =>
  ({
    client: option.object<CallsClient>(),
    store: option.optional(option.object<ReconcileStore>()),
    toEvents: option.optional(option.function<ToEvents>()),
    recordings: option.optional(option.boolean()),
    fieldNames: option.optional(option.object<FieldNames>()),
    query: option.optional(option.function<NonNullable<ConsoleReconcile['query']>>()),
    newestFirst: option.optional(option.boolean()),
    pageSize: option.optional(option.count(1, 100_000)),
    concurrency: option.optional(option.count(1, 100)),
    tenant: option.optional(
      option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
    ),
  }) satisfies Record<keyof ConsoleReconcile, unknown>;
