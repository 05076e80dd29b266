import type { Mutant } from './mutant.ts';

const core = (file: string) => `packages/core/src/${file}`;
const test = (file: string) => `packages/core/test/${file}`;
const MODEL = 'packages/verification/test/model.test.ts';

/** Bugs that real webhook receivers have. The named test has to catch each of them. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'mark before run',
    harm: 'a handler that fails is never run again: the event is lost',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: 'const running = this.#run(',
        to: 'const marked = lease.complete();\n      await marked;\n      const running = this.#run(',
      },
      {
        file: core('receiver/process-delivery.ts'),
        from: 'const completed = lease.complete();',
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
        from: 'await lease.release();\n    throw job.failure(error);',
        to: 'await lease.complete();\n    throw job.failure(error);',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'release without a token',
    harm: 'a zombie gives away the lease of the handler that runs now',
    edits: [
      {
        file: core('store/memory-store.ts'),
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
    name: 'compare what base64 decodes to',
    harm: 'seven more spellings of each signature are accepted',
    edits: [
      {
        file: core('signature/authenticate.ts'),
        from: 'equalText(computed, signature) ||',
        to: 'equalBytes(computed, signature) ||',
      },
      {
        file: core('signature/authenticate.ts'),
        from: "import { equalText, hmacBase64 } from '#hmac';",
        to: "import { equalText, hmacBase64 } from '#hmac';\nconst equalBytes = (one: string, other: string) => Buffer.from(one, 'base64').equals(Buffer.from(other, 'base64'));",
      },
    ],
    killedBy: test('signature/sign-verify.test.ts'),
  },
  {
    name: 'timestamps read leniently',
    harm: '"1700000000abc" is taken for a time',
    edits: [
      {
        file: core('signature/signature-headers.ts'),
        from: 'const TIMESTAMP = /^[1-9][0-9]{0,11}$/;',
        to: 'const TIMESTAMP = /^[1-9][0-9]{0,11}/;',
      },
    ],
    killedBy: test('signature/signature-headers.test.ts'),
  },
  {
    name: 'joined headers accepted',
    harm: 'a proxy and the receiver disagree about which of two ids was signed',
    edits: [
      {
        file: core('signature/signature-headers.ts'),
        from: '/[^\\x21-\\x2b\\x2d\\x2f-\\x7e]/',
        to: '/[^\\x20-\\x7e]/',
      },
    ],
    killedBy: test('signature/signature-headers.test.ts'),
  },
  {
    name: 'the body decoded to text before the HMAC',
    harm: 'bytes that were never signed are accepted',
    edits: [
      {
        file: core('signature/authenticate.ts'),
        from: 'hmacBase64(key.hmac, head, body)',
        to: 'hmacBase64(key.hmac, head, Buffer.from(Buffer.from(body).toString()))',
      },
    ],
    killedBy: test('signature/sign-verify.test.ts'),
  },
  {
    name: '404 for unknown events',
    harm: "the service pauses the user's rule at once",
    edits: [
      {
        file: core('outcome/outcomes.ts'),
        from: 'ignored: {\n    status: 200',
        to: 'ignored: {\n    status: 404',
      },
    ],
    killedBy: test('contract.test.ts'),
  },
  {
    name: 'an unknown event is an error',
    harm: 'the day the service adds an event, every rule that sends it is paused',
    edits: [
      {
        file: core('dispatch/routes.ts'),
        from: 'const handle = this.#handlers.get(eventName);',
        to: "const handle = this.#handlers.get(eventName);\n    if (!handle) throw new WebhookError('invalid-payload', 'unknown');",
      },
    ],
    killedBy: test('dispatch/routes.test.ts'),
  },
];
