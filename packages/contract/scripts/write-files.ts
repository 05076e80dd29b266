import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

const root = new URL('../', import.meta.url);

/**
 * Writes the generated JSON files of a folder of this package, and removes others; none in the
 * package's own folder, `.`. With `--check` on the command line, it changes nothing and fails if one
 * is out of date.
 * @param folder relative to the package
 */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, object>,
): Promise<void> {
  const isCheck = process.argv.includes('--check');
  const at = new URL(`${folder}/`, root);
  await mkdir(at, { recursive: true });
  const existing = folder === '.' ? [] : await readdir(at);
  const stale = new Set(existing.filter((name) => name.endsWith('.json')));
  const options = await resolveConfig(new URL('x.json', at));
  const outdated: string[] = [];
  for (const [name, content] of files) {
    stale.delete(name);
    const text = await format(JSON.stringify(content), { ...options, parser: 'json' });
    const path = new URL(name, at);
    const written = await readFile(path, 'utf8').catch(() => undefined);
    if (written === text) continue;
    outdated.push(name);
    if (!isCheck) await writeFile(path, text);
  }
  if (!isCheck) for (const name of stale) await rm(new URL(name, at));
  if (!isCheck || outdated.length + stale.size === 0) return;
  const names = [...outdated, ...stale]
    .map((name) => (folder === '.' ? name : `${folder}/${name}`))
    .join(', ');
  console.error(`packages/contract: ${names}: out of date: npm run contract`);
  process.exitCode = 1;
}
