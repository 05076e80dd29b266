import { hostContractTests } from '../contract.ts';

// The server of `vercel dev`, which needs no account. It serves one function, at every path.
hostContractTests(
  {
    name: "a function on the server of Vercel's runtime for Node",
    app: 'vercel',
    sample: '// api/hook.ts',
    route: (path) => `api${path}.ts`,
    ready: 'Dev server listening',
    serve: (port, path) => ({
      args: ['--import', 'tsx', 'node_modules/@vercel/node/dist/dev-server.mjs'],
      env: { VERCEL_DEV_PORT: port, VERCEL_DEV_ENTRYPOINT: `api${path}.ts` },
    }),
  },
  { buffers: true, methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'] },
);
