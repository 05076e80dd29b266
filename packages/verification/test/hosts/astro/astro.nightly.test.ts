import { hostContractTests } from '../contract.ts';
import type { Host } from '../host.ts';

const astro: Host = {
  name: 'Astro 5 on @astrojs/node',
  app: 'astro',
  sample: '// src/pages/hook.ts',
  route: (path) => `src/pages${path}.ts`,
  build: ['astro', 'build'],
  ready: 'Server listening',
  serve: (port) => ({
    args: ['dist/server/entry.mjs'],
    env: { HOST: '127.0.0.1', PORT: port },
  }),
};

hostContractTests(astro, { crossSite: 403 });

const newest = ['astro@latest', '@astrojs/node@latest'];
hostContractTests({ ...astro, name: 'the newest Astro', newest }, { crossSite: 403 });
