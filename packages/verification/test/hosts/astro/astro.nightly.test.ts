import { hostContractTests } from '../contract.ts';

hostContractTests(
  {
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
  },
  { crossSite: 403 },
);
