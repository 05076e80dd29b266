import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Packages {
  core: typeof import('@call-webhooks/core');
  'core/node': typeof import('@call-webhooks/core/node');
  express: typeof import('@call-webhooks/express');
  fastify: typeof import('@call-webhooks/fastify');
  mysql: typeof import('@call-webhooks/mysql');
  postgres: typeof import('@call-webhooks/postgres');
  redis: typeof import('@call-webhooks/redis');
  sqlite: typeof import('@call-webhooks/sqlite');
}

/**
 * Imports a package of this checkout, or of another one as it was built.
 * @param root the folder of the checkout; empty for this one
 */
export const importPackage = async <Name extends keyof Packages>(root: string, name: Name) =>
  (await import(packageUrl(root, name))) as Packages[Name];

export function packageUrl(root: string, name: keyof Packages): string {
  if (root === '') return import.meta.resolve(`@call-webhooks/${name}`);
  const [folder = '', ...path] = name.split('/');
  const url = new URL(`packages/${folder}/`, pathToFileURL(`${root}/`));
  const { exports } = JSON.parse(readFileSync(new URL('package.json', url), 'utf8')) as {
    exports: Record<string, { import: { default: string } }>;
  };
  const target = exports[['.', ...path].join('/')]?.import.default;
  if (target === undefined) throw new Error(`${root} has no ${name}.`);
  return new URL(target, url).href;
}
