// A registry for the time of a check, on this machine only, and what is in it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runServer } from 'verdaccio';

export const run = promisify(execFile);

/** @param {string} folder where it keeps what is published */
export async function startRegistry(folder) {
  const server = await runServer({
    storage: join(folder, 'storage'),
    configPath: join(folder, 'config.yaml'),
    packages: { '**': { access: '$all', publish: '$all' } },
    max_body_size: '50mb',
    web: { enable: false },
    log: { type: 'stdout', format: 'pretty', level: 'error' },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;

  return {
    /** Releases as the workflow does: with its command, but nothing is tagged. */
    async release() {
      const userconfig = join(folder, '.npmrc');
      writeFileSync(userconfig, `registry=${url}\n${url.replace('http:', '')}:_authToken=none\n`);
      const env = { npm_config_userconfig: userconfig, npm_config_registry: url };
      const args = ['run', 'release:publish', '--', '--no-git-tag'];
      const child = spawn('npm', args, { stdio: 'inherit', env: { ...process.env, ...env } });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error('npm run release:publish failed: see above.');
    },
    /** What was published. */
    tarball: (name, version) =>
      readFileSync(join(folder, 'storage', name, `${name.split('/').at(-1)}-${version}.tgz`)),
    /** Where npm finds a package without a scope, which `npmrc` can't tell from those of others. */
    url: (name, version) => `${url}${name}/-/${name}-${version}.tgz`,
    /** The settings of an app that gets our packages with a scope from here, and all others from where it always does. */
    npmrc: `@call-webhooks:registry=${url}\n`,
    close: () => server.close(),
  };
}
