import { defineConfig } from 'tsdown';

// One file for each entry, and shared chunks: loading forty small modules one by one takes as long as
// half of zod. tsc writes the types, next to them.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    stores: 'src/stores.ts',
    internal: 'src/internal.ts',
    web: 'src/web.ts',
    node: 'src/node.ts',
    'platform/node': 'src/platform/node.ts',
    'platform/web': 'src/platform/web.ts',
  },
  format: ['esm', 'cjs'],
  outDir: 'dist/bundle',
  platform: 'neutral',
  target: 'es2022',
  deps: { neverBundle: [/^node:/, '#platform'] },
  dts: false,
  outputOptions: { comments: { jsdoc: false } }, // the types have them
});
