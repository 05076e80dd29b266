// Adds a package.json to each CJS build, which is inside a package of type "module". The names of `imports` are
// those of the nearest package.json, so it has them as well, and the build has the files that they stand for.
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (!existsSync(cjs)) continue;
  const { imports } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
  for (const targets of Object.values(imports ?? {}))
    for (const file of Object.values(targets))
      copyFileSync(`packages/${name}/${file}`, `${cjs}/${file}`);
  writeFileSync(`${cjs}/package.json`, `${JSON.stringify({ type: 'commonjs', imports })}\n`);
}
