import { fileURLToPath } from 'node:url';

export default {
  // The workspace's root, whose lock file says which packages there are.
  turbopack: { root: fileURLToPath(new URL('../../..', import.meta.url)) },
};
