import { createRequire } from 'node:module';
import type { Choices, Framework, Store } from './choices.ts';

// The versions are those that this package is developed with, so they are updated with all others.
const { version, devDependencies: versions } = createRequire(import.meta.url)(
  'create-call-webhooks/package.json',
) as { version: string; devDependencies: Readonly<Record<string, string>> };

/** The version of this package. */
export { version };

const FRAMEWORK_PACKAGES: Readonly<Record<Framework, readonly string[]>> = {
  express: ['express'],
  fastify: ['fastify'],
  hono: ['hono', '@hono/node-server'],
  koa: ['koa'],
  next: ['next', 'react', 'react-dom'],
};
const STORE_PACKAGES: Readonly<Record<Store, readonly string[]>> = {
  memory: [],
  sqlite: ['@call-webhooks/sqlite', 'libsql'],
  postgres: ['@call-webhooks/postgres', 'pg'],
  redis: ['@call-webhooks/redis', 'ioredis'],
};
const TYPES: Readonly<Partial<Record<Framework | Store, string>>> = {
  express: '@types/express',
  koa: '@types/koa',
  next: '@types/react',
  postgres: '@types/pg',
};

/** The `package.json` of an app. */
export function manifestOf({ name, framework, store, language, packageManager }: Choices): string {
  const isTypeScript = language === 'typescript';
  const types = [TYPES[framework], TYPES[store]].filter((one) => one !== undefined);
  const typeScript = ['typescript', 'tsx', '@types/node', ...types];
  const manifest = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      dev: `concurrently --kill-others --names app,service ${packageManager}:dev:app ${packageManager}:dev:service`,
      'dev:service':
        'call-webhooks simulate --forward-to 3000/hook --secret-file .env --retry-every 10s',
      call: 'call-webhooks trigger call --wait',
      ...(framework === 'next' ? nextScripts(isTypeScript) : nodeScripts(isTypeScript)),
    },
    dependencies: versionsOf([
      `@call-webhooks/${framework}`,
      ...FRAMEWORK_PACKAGES[framework],
      ...STORE_PACKAGES[store],
    ]),
    devDependencies: versionsOf([
      '@call-webhooks/cli',
      '@call-webhooks/testing',
      'concurrently',
      ...(isTypeScript ? typeScript : []),
    ]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const nodeScripts = (isTypeScript: boolean) =>
  isTypeScript
    ? {
        'dev:app': 'tsx watch src/server.ts',
        build: 'tsc -p tsconfig.build.json',
        start: 'node dist/server.js',
        test: 'node --import tsx --test test/*.test.ts',
        typecheck: 'tsc',
      }
    : {
        'dev:app': 'node --watch src/server.js',
        start: 'node src/server.js',
        test: 'node --test test/*.test.js',
      };

const nextScripts = (isTypeScript: boolean) => ({
  'dev:app': 'next dev --port 3000',
  build: 'next build',
  start: 'next start',
  test: isTypeScript ? 'node --import tsx --test test/*.test.ts' : 'node --test test/*.test.js',
  ...(isTypeScript && { typecheck: 'next typegen && tsc' }),
});

function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const range = versions[name];
      if (range === undefined) throw new Error(`There is no version for ${name}.`);
      return [name, range];
    }),
  );
}
