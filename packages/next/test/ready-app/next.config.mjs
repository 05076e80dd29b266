/** `cacheComponents` of Next 16, which its next version has by default. */
const cacheComponents = process.env.CACHE_COMPONENTS === '1';

export default {
  ...(cacheComponents && { cacheComponents }),
  typescript: { ignoreBuildErrors: true }, // `npm run typecheck` checks the adapter
};
