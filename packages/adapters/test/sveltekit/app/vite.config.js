import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [sveltekit()],
  // From this repository's sources, so that nothing has to be built first.
  ssr: {
    noExternal: [/^@call-webhooks\//],
    resolve: { conditions: ['@call-webhooks/source', 'node'] },
  },
});
