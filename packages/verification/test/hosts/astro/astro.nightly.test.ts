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

// It takes what has no content type for a form.
const rules = { crossSite: 403, untyped: 403 };
hostContractTests(astro, rules);

const newest = ['astro@latest', '@astrojs/node@latest'];
hostContractTests({ ...astro, name: 'the newest Astro', newest }, rules);
