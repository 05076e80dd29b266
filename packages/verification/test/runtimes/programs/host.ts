import { createWebHandler, type WebHandler } from '@call-webhooks/core/web';
import { readSettings } from './read-settings.ts';
import { receiverOptions } from './receiver.ts';

let handlers: Map<string, WebHandler> | undefined;

/** Made at the first request: hosts import routes while they build, without settings. */
function handlerOf(path: string): WebHandler {
  handlers ??= new Map(
    Object.entries(receiverOptions(readSettings())).map(([at, options]) => [
      at,
      createWebHandler(options),
    ]),
  );
  const handler = handlers.get(path);
  if (!handler) throw new Error(`There is no receiver at ${path}.`);
  return handler;
}

/** The receiver at the path of a request. It takes the place of the one in a sample of the docs. */
export const receive = (request: Request): Promise<Response> =>
  handlerOf(new URL(request.url).pathname)(request);
