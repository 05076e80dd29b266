import { join } from 'node:path';
import { runtimeContractTests } from './black-box.ts';
import { bundle } from './bundle.ts';
import { installedBinary, startRuntime } from './process.ts';

for (const [name, file] of [
  ['Deno', undefined],
  ['Deno with node:sqlite', 'calls.db'],
] as const) {
  runtimeContractTests({
    name,
    async start(settings, folder) {
      const program = await bundle('deno', folder, ['deno', 'node']);
      const given = { ...settings, ...(file && { file: join(folder, file) }) };
      const binary = installedBinary('@deno', /./, 'deno');
      const env = { SETTINGS: JSON.stringify(given), DENO_DIR: folder, DENO_NO_UPDATE_CHECK: '1' };
      const allowed = ['--allow-net=127.0.0.1', '--allow-env', `--allow-read=${folder}`];
      const args = ['run', '--no-prompt', ...allowed, `--allow-write=${folder}`, program];
      return startRuntime(binary, args, { env });
    },
  });
}
