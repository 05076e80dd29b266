import { existsSync } from 'node:fs';
import type { SecretStore, StoredSecret } from '@call-webhooks/client';
import { fileBytes } from '../input/read.ts';
import { parseSecrets } from '../input/secret-file.ts';
import { replaceSecretFile } from '../input/secret-out.ts';

/** A file of secrets as a store for rotations: the new one first, the old ones until they expire. */
export function fileStore(path: string): SecretStore {
  return {
    async load() {
      if (!existsSync(path)) return [];
      const content = (await fileBytes(path, 'secret file')).toString('utf8');
      if (content.trim() === '') return [];
      return parseSecrets(content, path).map((filed, at): StoredSecret => ({
        id: `line-${String(at + 1)}`,
        ...filed,
      }));
    },
    save: (secrets) => replaceSecretFile(path, secrets),
  };
}
