import type { NextConfig } from 'next';

const config: NextConfig = {
  // Else Next answers /hook/ with a 308, and the service follows no redirect.
  skipTrailingSlashRedirect: true,
  // Else a request with the header `RSC: 1` gets a 307 from the App Router.
  experimental: { validateRSCRequestHeaders: false },
};

export default config;
