/** A part of the sources that is mutated in one go, with the tests that should notice. */
export interface MutationPart {
  /** Folders of sources, from the repository's root. */
  readonly sources: readonly string[];
  /** Globs of the tests. Those of `redis` and `postgres` start servers. */
  readonly tests: readonly string[];
  /** Names of folders in `packages` that the tests need. */
  readonly packages: readonly string[];
  /** The score that has to be reached, in percent. */
  readonly minScore: number;
}

/** Folders of core, with the tests of core that are about them. */
const core = (
  folders: readonly string[],
  tests: readonly string[],
  minScore = 90,
): MutationPart => ({
  sources: folders.map((folder) => `packages/core/src/${folder}`),
  tests: tests.map((glob) => `packages/core/test/${glob}.test.ts`),
  packages: ['core', 'contract-tests'],
  minScore,
});

/** Packages beside core, with all of their tests. */
const besideCore = (...packages: string[]): MutationPart => ({
  sources: packages.map((name) => `packages/${name}/src`),
  tests: packages.map((name) => `packages/${name}/test/**/*.test.ts`),
  packages: ['core', 'contract-tests', ...packages],
  minScore: 85,
});

const SIGNATURES = [
  '{signature,hmac}/*',
  'standard*',
  'web',
  'receiver/{tenants,refusals,strangers}',
];
const BODIES = ['http/*', '{node,web,contract,tenant}', 'receiver/{refusals,time,tenants}'];
const RECEIVERS = [
  '{receiver,time,channels}/*',
  '{contract,queue-contract,tenant,node,web}',
  '{rejecting-hooks,standard*}',
];
const STORES = [
  '{store,channels}/*',
  'store-contract',
  'receiver/{store,time,health,deliver*,complete-in*,one-at-a-time,on-error}',
];
const HANDLERS = ['{dispatch,receiver,channels,worker}/*', 'tenant', 'standard*'];
const EVENTS = ['{dispatch,events,receiver}/*', 'event-types', 'standard*'];
const REPORTS = [
  '{reporting,redact,outcome,channels}/*',
  '*hooks',
  'receiver/{*hooks,privacy,on-error}',
];

export const PARTS: Readonly<Record<string, MutationPart>> = {
  signature: core(['signature', 'hmac'], SIGNATURES),
  http: core(['http'], BODIES),
  receiver: core(['receiver', 'time'], RECEIVERS),
  store: core(['store'], STORES),
  dispatch: core(['dispatch'], HANDLERS),
  events: core(['events'], EVENTS, 85),
  worker: core(['worker'], ['{worker,dispatch,channels}/*', 'queue-contract'], 85),
  reporting: core(['reporting', 'redact', 'outcome', 'channels'], REPORTS, 85),
  adapters: besideCore('express', 'fastify', 'hono', 'koa', 'lambda', 'next'),
  sqlite: besideCore('sqlite'),
  redis: besideCore('redis'),
  postgres: besideCore('postgres'),
};
