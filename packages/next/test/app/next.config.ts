export default {
  skipTrailingSlashRedirect: true,
  experimental: { validateRSCRequestHeaders: false },
  typescript: { ignoreBuildErrors: true }, // `npm run typecheck` checks them
};
