// Adds a package.json to each CJS build, which is inside a package of type "module". Modules beside the package.json
// of a package, which the compiler does not move, are copied to where its builds expect them.
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  const folder = `packages/${name}`;
  if (!existsSync(`${folder}/dist/cjs`)) continue;
  writeFileSync(`${folder}/dist/cjs/package.json`, '{"type":"commonjs"}\n');
  for (const file of readdirSync(folder).filter((file) => /\.c(js|ts)$/.test(file)))
    copyFileSync(`${folder}/${file}`, `${folder}/dist/${file}`);
}
