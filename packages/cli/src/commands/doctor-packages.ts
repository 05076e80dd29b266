import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bad, type Found, ok, skipped } from './diagnosis.ts';

/**
 * Our packages in the user's project have to be of one version: they use each other's internals. Node says
 * where they are, since Yarn's Plug'n'Play has no node_modules, and pnpm keeps most of them elsewhere.
 */
export function packages(folder = process.cwd()): Found {
  const names = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const look = (name: string, from: string): void => {
    const file = resolved(`${name}/package.json`, from);
    if (file === undefined || seen.has(file)) return;
    seen.add(file);
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    const { version, private: isPrivate, dependencies = {}, peerDependencies = {} } = manifest;
    const short = name.replace(SCOPE, '');
    if (!isPrivate) names.set(version, (names.get(version) ?? new Set()).add(short));
    for (const other of Object.keys({ ...dependencies, ...peerDependencies }))
      if (other.startsWith(SCOPE)) look(other, file);
  };
  for (const name of PACKAGES) look(`${SCOPE}${name}`, join(folder, 'package.json'));
  if (names.size === 0) return skipped('No call-webhooks package is installed in this folder.');
  if (names.size === 1)
    return ok(`All call-webhooks packages have version ${[...names.keys()].join('')}.`);
  const told = [...names].map(([version, list]) => `${version} (${[...list].join(', ')})`);
  const fix = 'Install the same version of all packages: npm install @call-webhooks/NAME@latest';
  return bad(`The call-webhooks packages have different versions: ${told.join('; ')}.`, fix);
}

interface Manifest {
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: object;
  readonly peerDependencies?: object;
}

const SCOPE = '@call-webhooks/';
/** What a project may have installed itself. Their dependencies are found from them. */
const PACKAGES = [
  ...['adapters', 'client', 'cloudflare', 'console', 'contract', 'core', 'express', 'fastify'],
  ...['mysql', 'nest', 'next', 'opentelemetry', 'postgres', 'recovery', 'redis', 'simulator'],
  ...['sqlite', 'store-tests', 'testing'],
];

function resolved(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
