import { sharesTimers } from '#hmac';
import { Routes } from '../dispatch/routes.ts';
import type { TenantRequest } from '../http/tenant-request.ts';
import { safeLogger } from '../reporting/logger.ts';
import { Reporter } from '../reporting/reporter.ts';
import { TenantKeys } from '../signature/tenant-keys.ts';
import { safeTenantOf, type NamedTenant } from '../signature/tenant-names.ts';
import { keySource, type SecretProvider } from '../signature/secret-provider.ts';
import type { KeySource } from '../signature/secrets.ts';
import { boundedStore } from '../store/bounded-store.ts';
import { DeadlineScheduler, TimerPerDeadline } from '../time/deadline-scheduler.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { GroupTurns } from './group-turns.ts';
import type { Settings } from './options.ts';
import type { ProcessorDependencies } from './process-delivery.ts';

/** What the methods of a receiver share. */
export interface ReceiverParts {
  readonly settings: Settings;
  readonly scheduler: DeadlineScheduler;
  /** With tenants, they are nobody's: each tenant has keys of its own. */
  readonly keys: KeySource;
  /** Only with the option `tenant`. */
  readonly tenants?: Tenants | undefined;
  readonly limiter: ConcurrencyLimiter;
  readonly reporter: Reporter;
  readonly deps: ProcessorDependencies;
}

/** Names the tenant of each request, and has their keys. */
export interface Tenants {
  readonly nameOf: (request: TenantRequest) => NamedTenant;
  readonly keys: TenantKeys;
}

export function createParts(settings: Settings): ReceiverParts {
  const { handlers, oneAtATime, ackWithin, storeTimeout, maxAttempts } = settings;
  const scheduler = sharesTimers ? new DeadlineScheduler() : new TimerPerDeadline();
  return {
    settings,
    scheduler,
    ...keysOf(settings, scheduler),
    limiter: new ConcurrencyLimiter(settings.maxInFlight, settings.maxInFlightPerTenant),
    reporter: new Reporter(handlers, { redact: handlers.redact, maxAttempts }),
    deps: {
      settings,
      scheduler,
      turns: oneAtATime && new GroupTurns({ scheduler, ackWithin, wakes: sharesTimers }),
      routes: new Routes(handlers),
      store: boundedStore(settings.store, storeTimeout, scheduler),
    },
  };
}

function keysOf(
  { secret, tenant, logger, handlers: { redact } }: Settings,
  scheduler: DeadlineScheduler,
): Pick<ReceiverParts, 'keys' | 'tenants'> {
  const log = safeLogger(logger);
  if (!tenant) return { keys: keySource(secret, scheduler, log, redact) };
  const keys = new TenantKeys(secret as SecretProvider, scheduler, log, redact);
  return { keys: keys.of({}), tenants: { nameOf: safeTenantOf(tenant), keys } };
}
