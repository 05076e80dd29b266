import { hostContractTests } from '../contract.ts';
import type { Host } from '../host.ts';

const reactRouter: Host = {
  name: 'React Router 7 on react-router-serve',
  app: 'react-router',
  sample: '// app/routes/hook.ts',
  route: (path) => `app/routes${path}.ts`,
  build: ['react-router', 'build'],
  ready: '[react-router-serve]',
  serve: (port) => ({
    args: ['node_modules/.bin/react-router-serve', 'build/server/index.js'],
    env: { HOST: '127.0.0.1', PORT: port },
  }),
};

hostContractTests(reactRouter);

const ofReactRouter = ['dev', 'serve'].map((name) => `@react-router/${name}`);
const newest = [...ofReactRouter, 'isbot', 'react', 'react-dom', 'vite', 'typescript@5'];
hostContractTests({ ...reactRouter, name: 'the newest React Router', newest });
