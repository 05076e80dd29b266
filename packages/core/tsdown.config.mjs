import { defineConfig } from 'tsdown';

// One file an entry, and what they share: loading forty small modules one by one takes as long as
// half of zod. The types stay as tsc writes them, next to it.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    web: 'src/web.ts',
    node: 'src/node.ts',
    'hmac/node-crypto': 'src/hmac/node-crypto.ts',
    'hmac/web-crypto': 'src/hmac/web-crypto.ts',
  },
  format: ['esm', 'cjs'],
  outDir: 'dist/bundle',
  platform: 'neutral',
  target: 'es2022',
  deps: { neverBundle: [/^node:/, '@call-webhooks/core/hmac'] },
  dts: false,
  sourcemap: true,
});
