import { hostContractTests } from '../contract.ts';

hostContractTests({
  name: 'Nuxt 4 on Nitro',
  app: 'nuxt',
  sample: '// server/routes/hook.ts',
  route: (path) => `server/routes${path}.ts`,
  build: ['nuxt', 'build'],
  ready: 'Listening on',
  serve: (port) => ({
    args: ['.output/server/index.mjs'],
    env: { NITRO_HOST: '127.0.0.1', NITRO_PORT: port },
  }),
});
