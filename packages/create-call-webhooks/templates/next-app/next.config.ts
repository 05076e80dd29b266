import type { NextConfig } from 'next';

const config: NextConfig = {
  // Otherwise Next redirects /hook/ to /hook, which does not acknowledge a delivery.
  skipTrailingSlashRedirect: true,
};

export default config;
