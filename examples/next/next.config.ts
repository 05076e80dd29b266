export default {
  // Without this, Next redirects /hook/ (308), which doesn't acknowledge a delivery.
  skipTrailingSlashRedirect: true,
  // Without this, Next redirects a request with the header `RSC: 1` (307).
  experimental: { validateRSCRequestHeaders: false },
};
