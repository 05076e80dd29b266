import { join } from 'node:path';
import { runtimeContractTests } from './black-box.ts';
import { bundle } from './bundle.ts';
import { bunBinary, startRuntime } from './process.ts';

for (const [name, file] of [
  ['Bun', undefined],
  ['Bun with bun:sqlite', 'calls.db'],
] as const) {
  runtimeContractTests({
    name,
    async start(settings, folder) {
      const program = await bundle('bun', folder, ['bun', 'node']);
      const given = { ...settings, ...(file && { file: join(folder, file) }) };
      return startRuntime(bunBinary(), ['run', program], {
        env: { SETTINGS: JSON.stringify(given) },
      });
    },
  });
}
