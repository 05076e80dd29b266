// `npm run release:check`: releases all packages into a registry that runs for the moment, looks at what
// was published, and installs it in fresh apps.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { checkApp } from './app.mjs';
import { checkConsumer } from './consumer.mjs';
import { startRegistry } from './registry.mjs';

// This repository refuses packages that do not support its Node version. A user's npm only warns.
delete process.env.npm_config_engine_strict;

const read = (path) => readFileSync(path, 'utf8');
const packages = readdirSync('packages')
  .map((name) => `packages/${name}`)
  .filter((folder) => existsSync(`${folder}/package.json`))
  .map((folder) => JSON.parse(read(`${folder}/package.json`)))
  .filter((manifest) => !manifest.private);
const [{ version }] = packages;

/** What is published by mistake: sources, tests, settings, secrets, leftovers of builds. */
const UNWANTED =
  /^src\/|(^|\/)(tests?|node_modules|coverage)\/|(^|\/)\.|\.(map|tsbuildinfo|tgz|pem)$/;

/** The package of the command line. */
const COMMAND = 'call-webhooks';

/** The condition of our exports that leads to the sources. They are not published. */
const SOURCE = '@call-webhooks/source';

/** What is wrong with a published package. */
async function problemsOf(manifest, tarball) {
  const contents = createPackageFromTarballData(tarball);
  const root = `/node_modules/${manifest.name}/`;
  const paths = contents.listFiles();
  const bytes = paths.reduce((sum, path) => sum + Buffer.byteLength(contents.readFile(path)), 0);
  console.log(`${manifest.name}: ${paths.length} files, ${(bytes / 1e6).toFixed(2)} MB unpacked`);
  const files = paths.map((path) => path.slice(root.length));
  const problems = files
    .filter((file) => UNWANTED.test(file))
    .map((file) => `${file} should not be published`);
  if (!files.includes('README.md')) problems.push('README.md is missing');
  if (contents.tryReadFile(`${root}LICENSE`) !== read('LICENSE'))
    problems.push('its LICENSE is not that of the repository');
  if (manifest.version !== version) problems.push(`its version is ${manifest.version}`);
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    for (const [other, range] of Object.entries(manifest[field] ?? {}))
      if ((other === COMMAND || other.startsWith('@call-webhooks/')) && range !== `^${version}`)
        problems.push(`${field}: ${other}@${range} is not what is published`);
  if (!manifest.description || !manifest.engines?.node || manifest.license !== 'MIT')
    problems.push('license, description or engines is missing');
  if (!read('CHANGELOG.md').includes(`\`${manifest.name}`))
    problems.push('CHANGELOG.md does not name it');

  const { buffer, byteOffset, length } = tarball;
  const pack = { tarball: buffer.slice(byteOffset, byteOffset + length) };
  const { messages, pkg } = await publint({ pack, strict: true });
  for (const message of messages)
    if (!message.path.includes(SOURCE))
      problems.push(formatMessage(message, pkg, { color: false }));

  // A package with only a command exports nothing but its manifest, so it has no types.
  const main = Object.values(manifest.exports ?? {}).find((target) => typeof target === 'object');
  if (!main) return problems;
  // Workers are ES modules, so the package for them is as well.
  const kinds = ['node16-esm', 'bundler', ...(main.require ? ['node10', 'node16-cjs'] : [])];
  const analysis = await checkPackage(contents);
  if (!analysis.types) problems.push('it has no types');
  for (const problem of analysis.problems ?? [])
    if (kinds.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)))
      problems.push(`types: ${JSON.stringify(problem)}`);
  return problems;
}

const work = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
const registry = await startRegistry(work);
try {
  await registry.release();
  for (const manifest of packages) {
    for (const problem of await problemsOf(manifest, registry.tarball(manifest.name, version))) {
      console.error(`  ${problem}`);
      process.exitCode = 1;
    }
  }
  // The command is installed with the app. The consumer imports packages, and a command exports nothing.
  const names = packages.map(({ name }) => name).filter((name) => name !== COMMAND);
  const summaries = await Promise.all([
    checkConsumer(join(work, 'consumer'), registry.npmrc, names),
    checkApp(join(work, 'app'), registry.npmrc, registry.url(COMMAND, version)),
  ]);
  for (const summary of summaries) console.log(summary);
} finally {
  registry.close();
  rmSync(work, { recursive: true, force: true });
}
