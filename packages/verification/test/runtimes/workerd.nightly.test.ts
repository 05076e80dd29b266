import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runtimeContractTests } from './black-box.ts';
import { bundle } from './bundle.ts';
import { installedBinary, startRuntime } from './process.ts';

for (const [name, program, flags] of [
  ['workerd', 'worker', []],
  ['workerd with node:http', 'node-worker', ['nodejs_compat']],
] as const) {
  runtimeContractTests({
    name,
    async start(settings, folder) {
      const file = basename(await bundle(program, folder, ['workerd', 'worker', 'browser']));
      const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main", esModule = embed ${JSON.stringify(file)})],
  bindings = [(name = "SETTINGS", text = ${JSON.stringify(JSON.stringify(settings))})],
  compatibilityDate = "2026-06-01",
  compatibilityFlags = ${JSON.stringify(flags)},
);`;
      const path = join(folder, 'config.capnp');
      await writeFile(path, config);
      const binary = installedBinary('@cloudflare', /^workerd-/, 'bin/workerd');
      return startRuntime(binary, ['serve', path, '--control-fd=3'], { listensOn: 3 });
    },
  });
}
