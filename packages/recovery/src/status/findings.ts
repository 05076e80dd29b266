import type { OutcomeCode } from '@call-webhooks/core';
import type { CommonError, SeenEvent } from './evidence.ts';
import type { Attention } from './types.ts';

/** What a rule has found. `words.ts` says it in words. */
export type Finding = Pick<Attention, 'kind' | 'urgent' | 'by' | 'since' | 'count'> & {
  /** Empty without tenants, and if it concerns all of them. */
  readonly tenant: string;
  /** Empty if it concerns every event, or it is unknown which. */
  readonly eventName: string;
} & Facts;

type Facts =
  | { readonly what: 'store-down'; readonly error: string }
  | { readonly what: 'log-unreadable'; readonly error: string }
  | {
      readonly what: 'failing-events';
      readonly lastAt: number;
      readonly outcome: OutcomeCode;
      /** What most of the failed deliveries have in common. */
      readonly most: CommonError | undefined;
      /** How often the oldest one failed. */
      readonly failures: number;
      /** Whether these are known events, and not deliveries that cannot be told apart. */
      readonly isKnown: boolean;
    }
  | {
      readonly what: 'dead-letters';
      readonly most: CommonError | undefined;
      /**
       * Whether they were found where they wait, or only the log tells of them; or they do not wait any more, although
       * nothing has handled them.
       */
      readonly place: 'waiting' | 'log' | 'gone';
    }
  | {
      readonly what: 'given-up';
      /** When another event of the name arrived last. */
      readonly othersAt: number;
    }
  | {
      readonly what: 'retry-overdue';
      readonly lastAt: number;
      /** What most of the failed deliveries have in common; unknown once the log has forgotten them. */
      readonly most: CommonError | undefined;
      /** How many of the events only a reconcile has handled. */
      readonly reconciled: number;
    }
  | {
      readonly what: 'silence-ended';
      readonly until: number;
      readonly most?: CommonError | undefined;
      /** The event that the calls are known by. */
      readonly other?: string | undefined;
      /** Before, reconcile leaves out a part of that time. */
      readonly settlesAt: number;
      readonly isSettled: boolean;
    }
  | {
      readonly what: 'usual-hours';
      /** Whether the log still has all these hours of the week before. */
      readonly isWhole: boolean;
    }
  | { readonly what: 'stuck' }
  | {
      readonly what: 'calls-due';
      /** The event that the calls are known by. */
      readonly other: string;
      /** How many of 100 calls have the event. */
      readonly percent: number;
    }
  | {
      readonly what: 'rejected-events';
      readonly outcome: OutcomeCode;
      /** When the last one was rejected. */
      readonly lastAt: number;
      /** The events that have not arrived since. */
      readonly events: readonly SeenEvent[];
    }
  | {
      readonly what: 'rejected-ended';
      readonly outcome: OutcomeCode;
      readonly lastAt: number;
      /** The delivery that was verified again. */
      readonly ended: {
        readonly eventName: string;
        readonly at: number;
        readonly secretId: string;
      };
      /** The events that may still be concerned. */
      readonly missing: readonly SeenEvent[];
      /** How many were rejected since: then `since` and `count` are about these. */
      readonly again: number;
    }
  | {
      readonly what: 'rejected-only';
      readonly outcome: OutcomeCode;
      readonly lastAt: number;
      /** Whether the tenant, or a receiver without tenants, has ever had a verified delivery. */
      readonly isKnown: boolean;
      /** How many tenants of which no delivery was ever verified. */
      readonly unknownTenants: number;
    }
  | {
      readonly what: 'reconciled';
      readonly at: number;
      readonly until: number;
      readonly isDryRun: boolean;
    }
  | {
      readonly what: 'slow';
      readonly of: number;
      readonly ackWithin: number;
      /** The version of the app that handled the first one, and when its process had started. */
      readonly version?: { readonly name: string; readonly startedAt: number } | undefined;
      /** The 95th percentiles, milliseconds; absent if nothing was measured. */
      readonly p95: {
        readonly delivery?: number | undefined;
        readonly handler?: number | undefined;
        readonly store?: number | undefined;
      };
    };
