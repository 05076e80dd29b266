import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  // Deliveries may have no content type.
  plugins: [
    sveltekit({ adapter: adapter({ precompress: false }), csrf: { trustedOrigins: ['*'] } }),
  ],
});
