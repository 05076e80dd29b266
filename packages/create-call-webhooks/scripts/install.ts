import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.ts';

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const isOurs = (name: string) => /^@call-webhooks\/|^create-call-webhooks$/.test(name);
const needsOf = ({ dependencies, devDependencies }: Manifest) =>
  Object.entries({ ...dependencies, ...devDependencies });

/** Packs the packages of this repository that apps need. @returns the tarballs, by package */
export async function pack(folder: string): Promise<Map<string, string>> {
  mkdirSync(folder, { recursive: true });
  const all = new Map(
    readdirSync('packages').map((name) => {
      const manifest = read(`packages/${name}/package.json`);
      return [manifest.name, { manifest, path: `packages/${name}` }];
    }),
  );
  const wanted = new Set(['create-call-webhooks']);
  const own = all.get('create-call-webhooks');
  for (const [name] of own ? needsOf(own.manifest) : [])
    if (isOurs(name) && all.get(name)?.manifest.private !== true) wanted.add(name);
  for (const name of wanted)
    for (const other of Object.keys(all.get(name)?.manifest.dependencies ?? {}))
      if (all.has(other)) wanted.add(other);
  const workspaces = [...wanted].map((name) => `--workspace=${all.get(name)?.path ?? ''}`);
  const packed = JSON.parse(
    await run('.', 'npm', 'pack', '--json', `--pack-destination=${folder}`, ...workspaces),
  ) as { name: string; filename: string }[];
  return new Map(packed.map(({ name, filename }) => [name, join(folder, filename)]));
}

/** Installs what all apps need, once, in a folder above theirs. */
export async function installShared(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
): Promise<void> {
  const dependencies = Object.fromEntries(
    needsOf(read('packages/create-call-webhooks/package.json')).filter(([name]) => !isOurs(name)),
  );
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'shared', private: true, dependencies }),
  );
  await run(folder, 'npm', 'install', '--no-audit', '--no-fund', ...tarballs.values());
}

/** Installs an app by itself, with the packed packages in place of those on npm. */
export async function installAlone(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
): Promise<void> {
  const wanted = new Set(needsOf(read(join(folder, 'package.json'))).map(([name]) => name));
  for (const name of wanted) {
    if (!isOurs(name)) continue;
    const { dependencies = {} } = read(
      `packages/${name.replace('@call-webhooks/', '')}/package.json`,
    );
    for (const other of Object.keys(dependencies)) if (isOurs(other)) wanted.add(other);
  }
  const ours = [...wanted].flatMap((name) => tarballs.get(name) ?? []);
  await run(folder, 'npm', 'install', '--no-audit', '--no-fund', ...ours);
}
