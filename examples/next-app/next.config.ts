import type { NextConfig } from 'next';

const config: NextConfig = {
  // Without this, Next redirects /hook/ (308), which doesn't acknowledge a delivery.
  skipTrailingSlashRedirect: true,
  // Without this, the App Router redirects a request with the header `RSC: 1` (307).
  experimental: { validateRSCRequestHeaders: false },
};

export default config;
