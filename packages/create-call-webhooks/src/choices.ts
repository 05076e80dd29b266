/** The frameworks of the apps: the first is the default. */
export const FRAMEWORKS = ['express', 'fastify', 'hono', 'koa', 'next'] as const;
/** The stores of the apps: the first is the default. */
export const STORES = ['memory', 'sqlite', 'postgres', 'redis'] as const;
/** The languages of the apps: the first is the default. */
export const LANGUAGES = ['typescript', 'javascript'] as const;
export const PACKAGE_MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;

export type Framework = (typeof FRAMEWORKS)[number];
export type Store = (typeof STORES)[number];
export type Language = (typeof LANGUAGES)[number];
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** What an app is made of. */
export interface Choices {
  /** The name of its package. */
  readonly name: string;
  readonly framework: Framework;
  readonly store: Store;
  readonly language: Language;
  readonly packageManager: PackageManager;
}

/** What people call them. */
export const LABELS: Readonly<Record<Framework | Store | Language, string>> = {
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
  koa: 'Koa',
  next: 'Next.js',
  memory: 'memory',
  sqlite: 'SQLite',
  postgres: 'Postgres',
  redis: 'Redis',
  typescript: 'TypeScript',
  javascript: 'JavaScript',
};

/** When to take which store. */
export const STORE_HINTS: Readonly<Record<Store, string>> = {
  memory: 'one process; forgets at a restart',
  sqlite: 'one machine; a file, no server',
  postgres: 'several machines',
  redis: 'several machines; the fastest',
};

/** The package manager that runs this program (`npm create`, `pnpm create` …), or npm. */
export function packageManagerOf(userAgent: string | undefined): PackageManager {
  const name = userAgent?.split('/')[0];
  return PACKAGE_MANAGERS.find((one) => one === name) ?? 'npm';
}

/** `pnpm run dev`: a command of the package manager for one of npm. */
export function commandOf(packageManager: PackageManager, npmCommand: string): string {
  if (packageManager === 'npm') return npmCommand;
  const script = npmCommand.replace(/^npm (?=start$|test$)/, 'npm run ');
  return script.replace('npm', packageManager);
}
