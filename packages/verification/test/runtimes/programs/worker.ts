import type { WebHandler } from '@call-webhooks/core/web';
import { createFetch } from './fetch.ts';

/** The bindings of the Worker. */
interface Env {
  SETTINGS: string;
}

let handle: ReturnType<typeof createFetch> | undefined;

export default {
  fetch(
    request: Parameters<WebHandler>[0],
    env: Env,
    context: { waitUntil(work: Promise<unknown>): void },
  ): Promise<Response> {
    handle ??= createFetch(JSON.parse(env.SETTINGS) as never);
    return handle(request, {
      waitUntil: (work) => {
        context.waitUntil(work);
      },
    });
  },
};
