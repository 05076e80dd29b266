import { sharesTimers } from '#hmac';
import { Routes } from '../dispatch/routes.ts';
import { safeLogger } from '../reporting/logger.ts';
import { Reporter } from '../reporting/reporter.ts';
import { keySource } from '../signature/secret-provider.ts';
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
  readonly keys: KeySource;
  readonly limiter: ConcurrencyLimiter;
  readonly reporter: Reporter;
  readonly deps: ProcessorDependencies;
}

export function createParts(settings: Settings): ReceiverParts {
  const { handlers, oneAtATime, ackWithin, storeTimeout, logger, maxAttempts } = settings;
  const scheduler = sharesTimers ? new DeadlineScheduler() : new TimerPerDeadline();
  return {
    settings,
    scheduler,
    keys: keySource(settings.secret, scheduler, safeLogger(logger), handlers.redact),
    limiter: new ConcurrencyLimiter(settings.maxInFlight),
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
