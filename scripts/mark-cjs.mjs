// The CJS build sits inside a package of type "module"; a package.json beside it says what it is.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (existsSync(cjs)) writeFileSync(`${cjs}/package.json`, '{"type":"commonjs"}\n');
}
