// Adds a package.json to each CJS build, which is inside a package of type "module". It hides the `imports` of the
// package, so those that stand for a file beside the package.json are repeated there, with the file.
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  const cjs = `packages/${name}/dist/cjs`;
  if (!existsSync(cjs)) continue;
  const { imports = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
  const beside = Object.entries(imports).filter(([, targets]) =>
    Object.values(targets).every((file) => /^\.\/[^/]+$/.test(file)),
  );
  for (const [, targets] of beside)
    for (const file of Object.values(targets))
      copyFileSync(`packages/${name}/${file}`, `${cjs}/${file}`);
  const repeated = beside.length > 0 ? { imports: Object.fromEntries(beside) } : {};
  writeFileSync(`${cjs}/package.json`, `${JSON.stringify({ type: 'commonjs', ...repeated })}\n`);
}
