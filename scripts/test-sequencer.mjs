// What Jest does before it runs any test. It installs the packages that only some tests need: those of each
// folder above a test that has a lock file of its own. And it puts the tests of core first, since a mistake
// there makes tests of all other packages fail as well: the first failure then names what broke.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { install } from './install.mjs';

export default class extends TestSequencer {
  sort(tests) {
    const folders = tests.map(({ path, context }) => folderWithLock(path, context.config.rootDir));
    for (const folder of new Set(folders)) if (folder) install(relative(process.cwd(), folder));
    return super.sort(tests).sort((one, other) => isOfCore(other) - isOfCore(one));
  }
}

const isOfCore = ({ path, context }) =>
  Number(path.startsWith(join(context.config.rootDir, 'packages/core/')));

function folderWithLock(path, root) {
  for (let folder = dirname(path); folder.startsWith(root) && folder !== root;) {
    if (existsSync(join(folder, 'package-lock.json'))) return folder;
    folder = dirname(folder);
  }
  return undefined;
}
