/** A part of the sources that is mutated in one go, with the tests that should notice. */
export interface MutationPart {
  /** Globs of sources, relative to the repository's root. */
  readonly mutate: readonly string[];
  /** Globs of the tests. They need no server. */
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
  mutate: folders.map((folder) => `packages/core/src/${folder}/**/*.ts`),
  tests: tests.map((glob) => `packages/core/test/${glob}.test.ts`),
  packages: ['core', 'contract-tests'],
  minScore,
});

const SIGNATURES = [
  '{signature,hmac}/*',
  'standard*',
  'web',
  'receiver/{tenants,refusals,strangers}',
];
const BODIES = ['http/*', '{node,web,contract,tenant}', 'receiver/{refusals,time,tenants}'];
const RECEIVERS = ['{receiver,time}/*', '{contract,queue-contract,tenant,node}'];
const STORES = ['store/*', 'store-contract', 'receiver/{store,time,complete-in*,one-at-a-time}'];
const HANDLERS = ['{dispatch,events,receiver}/*', 'event-types', 'standard*'];
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
  dispatch: core(['dispatch', 'events'], HANDLERS),
  worker: core(['worker'], ['worker/*', 'queue-contract'], 85),
  reporting: core(['reporting', 'redact', 'outcome', 'channels'], REPORTS, 85),
};
