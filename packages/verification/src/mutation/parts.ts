import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  '{reporting,outcome,channels}/*',
  '*hooks',
  'receiver/{*hooks,privacy,on-error,refusals}',
];
const REDACTION = [
  'redact/!(redact-speed)',
  'reporting/log-lines',
  'receiver/privacy',
  'events/schema-issues',
];

export const PARTS: Readonly<Record<string, MutationPart>> = {
  signature: core(['signature', 'hmac'], SIGNATURES),
  http: core(['http'], BODIES),
  receiver: core(['receiver', 'time'], RECEIVERS),
  store: core(['store'], STORES),
  dispatch: core(['dispatch'], HANDLERS),
  events: core(['events'], EVENTS, 85),
  worker: core(['worker'], ['{worker,dispatch,channels}/*', 'queue-contract'], 85),
  reporting: core(['reporting', 'outcome', 'channels'], REPORTS, 85),
  redact: core(['redact'], REDACTION, 85),
  adapters: besideCore('express', 'fastify', 'hono', 'koa', 'lambda', 'next'),
  sqlite: { ...besideCore('sqlite'), tests: ['packages/sqlite/test/!(crash|readme).test.ts'] },
  redis: {
    ...besideCore('redis'),
    tests: ['packages/redis/test/!(outages|readme)*.test.ts'],
  },
  postgres: {
    ...besideCore('postgres'),
    tests: ['!(*.integration)', '!(*outage|readme).integration'].map(
      (glob) => `packages/postgres/test/${glob}.test.ts`,
    ),
  },
};

/** How many lines of sources Stryker changes before it leaves its results. */
const PIECE_LINES = 500;

/**
 * The sources of a part in pieces that are mutated one after another. The tests run once more for each
 * piece, but a run that is stopped loses only one of them.
 * @param root the repository's root
 * @returns paths from the root
 */
export function piecesOf({ sources }: MutationPart, root: string): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const folder of sources)
    for (const name of readdirSync(join(root, folder), { recursive: true }).map(String).sort()) {
      if (!name.endsWith('.ts')) continue;
      const file = `${folder}/${name}`;
      const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
      const piece = lines <= room ? pieces.at(-1) : undefined;
      if (piece) piece.push(file);
      else [pieces[pieces.length], room] = [[file], PIECE_LINES];
      room -= lines;
    }
  return pieces;
}
