import type { SvelteKitHandler } from '@call-webhooks/adapters/sveltekit';
import type { RequestHandler } from '@sveltejs/kit';

/** The handler that the contract tests mount now. */
const mounted = globalThis as { mountedHandler?: SvelteKitHandler };

export const POST: RequestHandler = (event) => {
  // Ours is one of SvelteKit's.
  const handler: RequestHandler | undefined = mounted.mountedHandler;
  return handler?.(event) ?? new Response(null, { status: 503 });
};
export const fallback = POST;
export const trailingSlash = 'ignore';
