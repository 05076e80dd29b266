import { core, MODEL, type Mutant } from './mutant.ts';

/** Bugs in what happens to an event over time. The model catches all of them. */
export const EVENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'mark before run',
    harm: 'a handler that fails is never run again: the event is lost',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: 'const isCrashed = isCrashLooping(',
        to: 'const marked = lease.complete();\n      await marked;\n      const isCrashed = isCrashLooping(',
      },
      {
        file: core('receiver/process-delivery.ts'),
        from: 'const completed = lease.complete(markOf(result));',
        to: 'const completed = marked;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a failure is remembered as done',
    harm: 'the retry is acknowledged and never run',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: 'await lease.release();\n    throw withOrigin(',
        to: 'await lease.complete();\n    throw withOrigin(',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a dead letter is remembered as handled',
    harm: 'its redrive is acknowledged as a duplicate and never run',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: 'const completed = lease.complete(markOf(result));',
        to: 'const completed = (markOf(result), lease.complete());',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'release without a token',
    harm: 'a zombie gives away the lease of the handler that runs now',
    edits: [
      {
        file: core('store/memory-leases.ts'),
        from: 'return lease?.token === token ? lease : undefined;',
        to: 'return token === undefined ? undefined : lease;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'no renewal of leases',
    harm: 'a handler of more than a minute is run twice at once',
    edits: [
      {
        file: core('store/lease.ts'),
        from: 'if (this.#key !== undefined && !this.#ended) this.#scheduler.add(this);',
        to: 'if (this.#key === undefined && !this.#ended) this.#scheduler.add(this);',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'leases renewed for ever',
    harm: 'a handler that hangs keeps the event from every retry',
    edits: [
      {
        file: core('store/lease.ts'),
        from: 'Math.min(this.#leaseMs, MAX_LEASE_MS - age)',
        to: 'this.#leaseMs + 0 * age',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'fail open',
    harm: 'while the store is down, everything runs again and again',
    edits: [
      {
        file: core('store/bounded-store.ts'),
        from: "() => callSyncIfPossible(store, 'admit', claim),",
        to: "() => new Promise<Admission>((resolve) => resolve(callSyncIfPossible(store, 'admit', claim))).catch(() => ({ status: 'admitted', attempt: 1 })),",
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a replay memory of five minutes',
    harm: 'a delivery stamped ahead of time can be replayed once it was forgotten',
    edits: [
      {
        file: core('signature/authenticate.ts'),
        from: 'return Math.max(verifiesUntil, now + MIN_REPLAY_MEMORY_MS);',
        to: 'return now + MIN_REPLAY_MEMORY_MS + 0 * verifiesUntil;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'timestamps checked against the past only',
    harm: 'a captured delivery stamped far ahead verifies for as long as it likes',
    edits: [
      {
        file: core('signature/authenticate.ts'),
        from: 'if (Math.abs(age) <= toleranceSeconds) return seconds;',
        to: 'if (age <= toleranceSeconds) return seconds;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a shutdown that goes on admitting',
    harm: 'a deploy kills handlers that it should not have begun',
    edits: [
      {
        file: core('receiver/concurrency-limiter.ts'),
        from: 'this.#closing = true;',
        to: 'this.#closing = false;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'leases by the wall clock',
    harm: 'a corrected clock runs an event twice at once, or blocks it for an hour',
    edits: [
      {
        file: core('store/memory-store.ts'),
        from: 'now ?? (() => performance.now())',
        to: 'now ?? Date.now',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a failed dead-letter sink counts as done',
    harm: 'the event is acknowledged, and is in no list',
    edits: [
      {
        file: core('receiver/dead-letters.ts'),
        from: "return [{ source: 'dead-letter',",
        to: "return undefined && [{ source: 'dead-letter',",
      },
    ],
    killedBy: MODEL,
  },
];
