import type { SvelteKitEvent } from '@call-webhooks/sveltekit';

/** The handler that the contract tests mount now. */
const mounted = globalThis as { mountedHandler?(event: SvelteKitEvent): Promise<Response> };

export const POST = (event: SvelteKitEvent): Promise<Response> | undefined =>
  mounted.mountedHandler?.(event);
export const fallback = POST;
export const trailingSlash = 'ignore';
