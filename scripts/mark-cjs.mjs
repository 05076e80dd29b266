// The CJS build sits inside a package of type "module": a package.json beside it says what it is.
// That makes it a package scope of its own, so the `imports` map is repeated there, as it applies.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The `require` branches of an imports map, relative to dist/cjs. */
function required(target) {
  if (target.require) return target.require.default.replace('./dist/cjs/', './');
  return Object.fromEntries(
    Object.entries(target).map(([condition, inner]) => [condition, required(inner)]),
  );
}

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (!existsSync(cjs)) continue;
  const { imports } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
  const marker = { type: 'commonjs', ...(imports && { imports: required(imports) }) };
  writeFileSync(`${cjs}/package.json`, JSON.stringify(marker, null, 2) + '\n');
}
