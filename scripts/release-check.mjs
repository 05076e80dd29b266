// Tries the release without publishing: `npm publish --dry-run` of every public package, and what has
// to be in each of them. Run `npm run build` first.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const read = (path) => readFileSync(path, 'utf8');
const manifests = readdirSync('packages').map((folder) => ({
  folder: `packages/${folder}`,
  ...JSON.parse(read(`packages/${folder}/package.json`)),
}));
const packages = manifests.filter((manifest) => !manifest.private);
const versions = new Map(packages.map(({ name, version }) => [name, version]));

/** What is published by mistake in other projects: tests, settings, secrets, leftovers of builds. */
const UNWANTED = /(^|\/)(test|tests|node_modules|coverage)\/|(^|\/)\.|\.tsbuildinfo$|\.tgz$|\.pem$/;

/** The tests of the apps that `create-call-webhooks` creates. */
const TEMPLATE = /^dist\/templates\/.*\/test\/\w+\.test\.[jt]s$/;

/** All files that the exports of a package lead to. */
const targetsOf = (exported) => {
  if (typeof exported === 'string') return [exported];
  return Object.values(exported ?? {}).flatMap(targetsOf);
};

const published = JSON.parse(
  execFileSync('npm', ['publish', '--dry-run', '--json', ...packages.flatMap(workspace)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 2 ** 20,
  }),
);

function workspace({ folder }) {
  return ['--workspace', folder];
}

/** What is wrong with a package. */
function* problemsOf({ folder, name, version, ...manifest }) {
  const files = published[name]?.files.map(({ path }) => path);
  if (!files) return yield 'npm would not publish it';
  for (const file of ['README.md', 'LICENSE', 'package.json'])
    if (!files.includes(file)) yield `${file} is missing`;
  if (files.includes('LICENSE') && read(`${folder}/LICENSE`) !== read('LICENSE'))
    yield 'its LICENSE is not that of the repository';
  for (const file of files)
    if (UNWANTED.test(file) && !TEMPLATE.test(file)) yield `${file} should not be published`;

  const bins = Object.values(manifest.bin ?? {});
  for (const target of [...targetsOf(manifest.exports), ...bins]) {
    const pattern = target.replace(/^\.\//, '');
    const [start, end] = pattern.split('*');
    const found = files.some((file) =>
      end === undefined ? file === pattern : file.startsWith(start) && file.endsWith(end),
    );
    if (!found) yield `exports ${target}, which is not published`;
  }

  if (version !== versions.get('@call-webhooks/core')) yield `its version is ${version}`;
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    for (const [other, range] of Object.entries(manifest[field] ?? {}))
      if (other.startsWith('@call-webhooks/') && range !== `^${versions.get(other)}`)
        yield `${field}: ${other}@${range} is not what would be published`;

  const { access, provenance } = manifest.publishConfig ?? {};
  if (access !== 'public' || provenance !== true)
    yield 'publishConfig needs access "public" and provenance true';
  if (manifest.repository?.directory !== folder) yield 'repository.directory is wrong';
  if (manifest.license !== 'MIT' || !manifest.description || !manifest.engines?.node)
    yield 'license, description or engines is missing';
  if (!read('CHANGELOG.md').includes(`\`${name}`)) yield 'CHANGELOG.md does not name it';
}

let failed = false;
for (const manifest of packages) {
  const { size = 0, files = [] } = published[manifest.name] ?? {};
  console.log(`${manifest.name}@${manifest.version}: ${files.length} files, ${size} bytes packed`);
  for (const problem of problemsOf(manifest)) {
    failed = true;
    console.error(`  ${problem}`);
  }
}
if (failed) process.exitCode = 1;
else console.log(`${packages.length} packages are ready to be published.`);
