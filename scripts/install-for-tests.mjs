// Before Jest runs any test, this installs the packages that only some of them need: those of each folder
// above a test that has a lock file of its own. It is a sequencer since that is what knows, once in a run,
// which tests there are.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { install } from './install.mjs';

export default class extends TestSequencer {
  sort(tests) {
    const folders = tests.map(({ path, context }) => folderWithLock(path, context.config.rootDir));
    for (const folder of new Set(folders)) if (folder) install(relative(process.cwd(), folder));
    return super.sort(tests);
  }
}

function folderWithLock(path, root) {
  for (let folder = dirname(path); folder.startsWith(root) && folder !== root;) {
    if (existsSync(join(folder, 'package-lock.json'))) return folder;
    folder = dirname(folder);
  }
  return undefined;
}
