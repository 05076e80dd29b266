import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of this checkout. (This file runs as `dist/esm/checkout.js`, and in tests from `src`.) */
export const THIS_VERSION = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../..' : '../../../..', import.meta.url),
);

/**
 * Imports a package of a checkout of this repository; of another one than this, as it was built.
 * @param root the folder of the checkout
 * @param name the package's folder, `core` for instance
 * @param entry an entry of its `exports`
 */
export async function importPackage<Module>(
  root: string,
  name: string,
  entry = '.',
): Promise<Module> {
  const specifier =
    root === THIS_VERSION
      ? `@call-webhooks/${name}${entry.slice(1)}`
      : packageUrl(root, name, entry);
  return (await import(specifier)) as Module;
}

/** The URL of a built entry. */
export function packageUrl(root: string, name: string, entry = '.'): string {
  const folder = new URL(`packages/${name}/`, pathToFileURL(`${root}/`));
  const { exports } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
    exports: Record<string, { import: { default: string } }>;
  };
  const target = exports[entry]?.import.default;
  if (target === undefined) throw new Error(`${name} of ${root} has no entry ${entry}.`);
  return new URL(target, folder).href;
}
