// Adds a package.json to each CJS build, which is inside a package of type "module".
import { existsSync, readdirSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (existsSync(cjs)) writeFileSync(`${cjs}/package.json`, '{"type":"commonjs"}\n');
}
