import { readFile, rename, writeFile } from 'node:fs/promises';
import type { SecretStore, StoredSecret } from '../../src/rotate-into.ts';

/** The steps of a rotation at which a process can die. */
export type Step =
  | 'load'
  | 'first save starts'
  | 'first save half written'
  | 'first save written'
  | 'first save done'
  | 'request'
  | 'answered'
  | 'second save starts'
  | 'second save half written'
  | 'second save written'
  | 'second save done'
  | 'done';

/** Secrets in a file that is replaced as a whole. `reach` is called at every step. */
export function fileStore(
  path: string,
  reach: (step: Step) => Promise<void> = async () => undefined,
): SecretStore {
  let saves = 0;
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(() => '[]');
      await reach('load');
      return JSON.parse(text) as StoredSecret[];
    },
    async save(secrets) {
      const save = ++saves === 1 ? 'first save' : 'second save';
      const text = JSON.stringify(secrets);
      await reach(`${save} starts`);
      await writeFile(`${path}.new`, text.slice(0, text.length / 2));
      await reach(`${save} half written`);
      await writeFile(`${path}.new`, text);
      await reach(`${save} written`);
      await rename(`${path}.new`, path);
      await reach(`${save} done`);
    },
  };
}
