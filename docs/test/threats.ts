/** The attacks of docs/security.md, and the tests that show each defence: files, with the names of tests or rows in them. */
export const THREATS: Record<string, readonly (readonly [file: string, ...names: string[]])[]> = {
  'Run a handler without the secret': [
    [
      'packages/core/test/signature/sign-verify.test.ts',
      'agree on arbitrary bytes, and one changed byte is a mismatch',
    ],
    [
      'packages/contract-tests/src/adapter/verification.ts',
      'refuses forged, unsigned and malformed requests: 401, and runs nothing',
    ],
    [
      'packages/verification/test/fuzz.integration.test.ts',
      'no mutated request gets an unexpected response, throws, or reaches a handler',
    ],
  ],
  'Guess a signature character by character from response times': [
    ['packages/verification/scripts/timing.ts'],
  ],
  'Find a second spelling of a valid request': [
    ['packages/core/test/signature/signature-headers.test.ts'],
    [
      'packages/core/test/signature/sign-verify.test.ts',
      'refuse every non-canonical spelling of the right signature',
    ],
    ['packages/contract-tests/src/adapter/hostile.ts', 'a signature in another spelling of base64'],
  ],
  'Smuggle a request or a header past a proxy': [
    [
      'packages/contract-tests/src/adapter/hostile.ts',
      'the signature in a trailer',
      'underscores for the dashes of names',
      'a forgery and a delivery in one packet',
    ],
  ],
  'Replay a captured delivery': [
    ['packages/core/test/signature/signature-headers.test.ts'],
    [
      'packages/core/test/receiver/refusals.test.ts',
      'with a timestamp 299 s ahead is still refused when it is replayed 598 s later',
    ],
    ['packages/contract-tests/src/adapter/hostile.ts', 'a request twice in one packet'],
    [
      'packages/contract-tests/src/store/webhook-ids.ts',
      'refuses a webhook id that it saw, with or without a key, until replayUntil',
    ],
    ['packages/verification/test/model.integration.test.ts'],
  ],
  'Replay it many times at once': [
    [
      'packages/core/test/receiver/delivery.test.ts',
      'sent 50 times at once under one id is accepted once',
      'sent under 50 ids at once runs its handler once',
    ],
    [
      'packages/contract-tests/src/store/webhook-ids.ts',
      'admits one of 50 racing deliveries of one webhook id',
    ],
    [
      'packages/postgres/test/store.integration.test.ts',
      'gives one webhook id to one of 50 claims',
    ],
  ],
  'Have a parser or proxy alter a body (by accident)': [
    [
      'packages/express/test/express-tests.ts',
      'express.json alone: 500, and one log line with the fix',
    ],
    [
      'packages/core/test/signature/sign-verify.test.ts',
      'do not confuse the replacement character with the byte that it replaces',
    ],
  ],
  'Exhaust memory, sockets or the stack': [
    [
      'packages/contract-tests/src/adapter/hostile.ts',
      'a body said to be 4 GB',
      'a body that comes byte by byte',
    ],
    ['packages/core/test/events/events.test.ts', 'accepts 64 levels'],
    [
      'packages/contract-tests/src/adapter/outcome-table.ts',
      'in-progress, and overloaded above maxInFlight: 503',
    ],
    ['packages/verification/scripts/soak.ts'],
  ],
  'Fill the disk with log lines, or overload a secret manager': [
    [
      'packages/core/test/reporting/reporter.test.ts',
      'logs what strangers can cause once every 10 s, with a count of the rest',
    ],
    [
      'packages/core/test/signature/secret-provider.test.ts',
      'is called for forgeries at most once in 5 s',
    ],
  ],
  'Pause the rule with odd methods and paths': [
    [
      'packages/contract-tests/src/adapter/requests.ts',
      'never get 404, 410 or 3xx, whatever the method',
    ],
    ['docs/test/programs.test.ts', '%s never pauses the rule with the documented route'],
    [
      'packages/verification/test/proxies.nightly.test.ts',
      'sends nothing that pauses a rule, whatever the path and the upstream',
    ],
  ],
  'Forge log lines or send terminal codes in event names': [
    [
      'packages/core/test/reporting/reporter.test.ts',
      'keeps line breaks and terminal codes from a body out of the log',
    ],
  ],
  'Pollute a prototype with `__proto__` keys': [
    [
      'packages/core/test/events/events.test.ts',
      'as an own property, and the last of two equal keys',
    ],
  ],
  'Commit with an expired lease (by accident)': [
    ['packages/core/test/store/lease.test.ts'],
    [
      'packages/contract-tests/src/store/events.ts',
      'fences a zombie: it can not complete, release or extend, before and after a new owner came',
    ],
  ],
  'Lose an acknowledged event in a crash, a store failure or a deploy': [
    ['packages/verification/test/model.integration.test.ts'],
    ['packages/verification/test/model-servers.nightly.test.ts'],
    ['packages/verification/test/history.test.ts'],
  ],
  'Read personal data or secrets in logs and responses': [
    ['packages/core/test/redact/what-is-removed.test.ts'],
    ['packages/core/test/receiver/privacy.test.ts', 'never reaches a log line or an outcome'],
    [
      'packages/contract-tests/src/adapter/outcome-table.ts',
      'each with a log line without personal data',
    ],
  ],
  "Steal the client's API token with a redirect or a `recordingUrl`": [
    [
      'packages/client/test/http/exchange.test.ts',
      'that comes back from another origin stays without the token',
    ],
    [
      'packages/client/test/recordings.test.ts',
      'a recording that is redirected to another origin comes without the token',
    ],
  ],
  'Control the local simulator from a web page': [
    [
      'packages/simulator/test/http/serving.test.ts',
      'pages of other origins can neither read nor write nor frame',
    ],
  ],
  'Publish a release with foreign code': [
    [
      'docs/test/security.test.ts',
      'every action is pinned by the SHA of its commit, and its version is told',
      'every public package says where it comes from, and leaves provenance to the workflow',
    ],
  ],
};
