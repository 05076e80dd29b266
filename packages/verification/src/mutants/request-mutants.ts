import { core, test, type Mutant } from './mutant.ts';

/** Bugs in how a single request is verified and answered. */
export const REQUEST_MUTANTS: readonly Mutant[] = [
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
