import type { Store } from '@call-webhooks/core';
import { createWebHandler, type WebHandler } from '@call-webhooks/core/web';
import { receiverOptions, type Settings } from './receiver.ts';

/** A function for a fetch-style server, with the receivers at their paths. */
export function createFetch(
  settings: Settings,
  store?: Store,
): (...args: Parameters<WebHandler>) => Promise<Response> {
  const handlers = new Map(
    Object.entries(receiverOptions(settings, store)).map(([path, options]) => [
      path,
      createWebHandler(options),
    ]),
  );
  return async (request, extras) => {
    const handler = handlers.get(new URL(request.url).pathname);
    return handler ? handler(request, extras) : new Response('not found', { status: 404 });
  };
}
