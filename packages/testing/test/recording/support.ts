import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file in a folder of its own, which `remove` deletes. */
export function temporaryFile() {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
  const file = join(folder, 'fixtures/calls.json');
  return {
    file,
    folder,
    text: () => readFileSync(file, 'utf8'),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
