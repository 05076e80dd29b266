import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One program of the docs, written to a file of its own, where it finds the workspace's packages. */
export interface Sample {
  readonly name: string;
  readonly language: 'ts' | 'js';
  readonly code: string;
  readonly file: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'docs/test/.samples');

/** Its samples, and the first one of OBSERVABILITY, are run by the tests in own-packages. */
export const FRAMEWORKS = 'docs/frameworks.md';
export const OBSERVABILITY = 'docs/observability.md';

/** What a sample uses as its reader's own. */
const READERS_OWN: Record<string, string> = {
  prisma: `interface Prisma {
  call: { create(query: { data: { id: string } }): Promise<unknown> };
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
  $transaction<T>(run: (tx: Prisma) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
}
declare const prisma: Prisma;`,
  oldReceiver: `declare const oldReceiver: {
  hasHandled(callId: string | null | undefined, eventName: string): Promise<boolean>;
};`,
  workspaces: 'declare const workspaces: { secretOf(name: string): Promise<string | undefined> };',
};

/** Their blocks are run by tests of their own, or are parts of programs that need a server. */
const ELSEWHERE = new Set([
  'docs/forwarding.md', // own-packages of packages/store-tests
  'docs/deploying.md', // programs.test.ts and production.test.ts
  'docs/rest-client.md', // packages/verification
  'packages/mysql/README.md', // its test/readme.integration.test.ts
  'packages/postgres/README.md', // its test/readme.test.ts
  'packages/simulator/README.md', // its test/readme.test.ts
  'packages/sqlite/README.md', // its test/readme.test.ts
]);

/** `numbered('docs/recovery.md', 1, 2)`: the first two programs of a document. */
export const numbered = (document: string, ...numbers: number[]) =>
  numbers.map((number) => `${document}#${String(number)}`);

/** Run by other tests, or by hand in a runtime that is not here. */
export const RUN_ELSEWHERE = [
  // They need servers: compiled here; what they call is run in their packages' own tests.
  ...numbered('packages/redis/README.md', 1, 2, 3),
  'docs/stores.md#2', // packages/redis/test/dead-connections
  'docs/write-a-queue.md#1',
  ...numbered('docs/write-a-store.md', 1, 2, 3), // write-a-store.test.ts
  'docs/personal-data.md#1', // a Postgres with keepFor: packages/postgres
  'docs/personal-data.md#2', // personal-data.test.ts
  'packages/cloudflare/README.md#1', // run in workerd in packages/cloudflare
  'packages/client/README.md#1', // also in packages/verification
  'packages/store-tests/README.md#1', // run by node:test in packages/store-tests
  'packages/testing/README.md#1', // run by Vitest in packages/testing
  ...numbered('docs/testing.md', 1, 2, 3), // run by Jest in packages/testing
  ...numbered(OBSERVABILITY, 1, 3), // run in own-packages and in packages/verification
  ...numbered('docs/context.md', 1), // handlers alone: compiled
  ...numbered('docs/migrating.md', 1), // the same
  'docs/failures.md#1', // programs.test.ts
  'docs/kubernetes.md#1', // production.test.ts
  ...numbered('docs/custom-events.md', 1, 2), // run in packages/verification
  ...numbered('docs/one-row-per-call.md', 1, 2), // run in packages/verification
  'docs/field-names.md#1', // field-names.test.ts
  ...numbered('docs/tenants.md', 1, 2, 3), // programs.test.ts
  ...numbered('docs/exactly-once.md', 1, 3), // run in packages/verification
  'docs/exactly-once.md#2', // its client and its transaction: packages/postgres/test/own-packages
  ...numbered('docs/recovery.md', 1, 2, 3, 4), // run in packages/verification
  'docs/status.md#1', // run in packages/verification
  'docs/status.md#2', // run in packages/verification
  ...numbered('packages/adapters/README.md', 4, 5, 6), // SvelteKit: built in its nightly test
];

const documents = () => [
  'README.md',
  ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/**
 * Every TypeScript and JavaScript block of the READMEs and the docs, on disk.
 * @param name their folder: test files that run at the same time have their own
 */
export function writeSamples(name: string, isWanted = (_document: string) => true): Sample[] {
  const folder = resolve(FOLDER, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return documents()
    .filter((document) => !ELSEWHERE.has(document) && isWanted(document))
    .flatMap((document) => samplesOf(document, folder));
}

function samplesOf(document: string, folder: string): Sample[] {
  let text: string;
  try {
    text = readFileSync(join(ROOT, document), 'utf8');
  } catch {
    return []; // a package without a README
  }
  let before = '';
  return [...text.matchAll(/^```(ts|js)\n([^]*?)^```/gm)].map(([, language, block = ''], index) => {
    // A block without imports goes on where the one before it ended.
    const code = /^(?:import|export) /m.test(block) ? block : before + block;
    before = code;
    const title =
      document === 'README.md'
        ? 'root'
        : `${basename(dirname(document))}-${basename(document, '.md')}`;
    const file = join(folder, `${title}-${String(index + 1)}.${language ?? 'ts'}`);
    const own = Object.entries(READERS_OWN).filter(([name]) => code.includes(`${name}.`));
    writeFileSync(file, own.map(([, declaration]) => `${declaration}\n`).join('') + code);
    return {
      name: `${document}#${String(index + 1)}`,
      language: language as 'ts' | 'js',
      code,
      file,
    };
  });
}

/** They import packages that not every machine has. The tests that have them check their types as well. */
const isOfOwnPackages = ({ name }: Sample) =>
  name.startsWith(`${FRAMEWORKS}#`) ||
  [`${OBSERVABILITY}#1`, 'packages/testing/README.md#1'].includes(name);

// For the type check of all others.
if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const sample of writeSamples('all')) if (isOfOwnPackages(sample)) rmSync(sample.file);
