// Adds a package.json to each CJS build, which is inside a package of type "module". It also has the
// `imports` that lead into the build, such as `#durable-object`: Node reads those of the nearest one only.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const BUILD = './dist/cjs/';

/** The targets that are in the build, relative to it. */
function inBuild(target) {
  if (typeof target === 'string')
    return target.startsWith(BUILD) ? `./${target.slice(BUILD.length)}` : undefined;
  const kept = Object.entries(target).map(([name, inner]) => [name, inBuild(inner)]);
  const found = kept.filter(([, inner]) => inner !== undefined);
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (!existsSync(cjs)) continue;
  const { imports = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
  const manifest = { type: 'commonjs', imports: inBuild(imports) };
  writeFileSync(`${cjs}/package.json`, `${JSON.stringify(manifest)}\n`);
}
