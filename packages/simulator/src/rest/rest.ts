import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { errorAnswer, type ErrorAnswer } from '../http/error-answer.ts';
import type { Simulation } from '../simulation.ts';
import { callRoutes } from './call-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { rateLimiter } from './rate-limit.ts';
import { recordingRoutes } from './recording-routes.ts';
import { ruleRoutes } from './rule-routes.ts';

/** The service's REST API (spec, "Endpoints"), behind `X-API-Token`. */
export function restApi(app: FastifyInstance, simulation: Simulation, apiToken: string): void {
  const { rateLimit, wallClock } = simulation.settings;
  const limited = rateLimit ? rateLimiter(rateLimit, wallClock) : () => 0;

  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    let refused: ErrorAnswer | undefined;
    if (!isToken(request.headers['x-api-token'], apiToken))
      refused = errorAnswer(401, 'unauthorized', 'Send the API token in X-API-Token.');
    else {
      const seconds = limited();
      if (seconds > 0) {
        void reply.header('retry-after', String(seconds));
        refused = errorAnswer(429, 'rate-limited', 'Too many requests.');
      }
    }
    return refused && reply.code(refused.status).send(refused.body);
  });
  eventRoutes(app, simulation);
  callRoutes(app, simulation);
  recordingRoutes(app, simulation);
  ruleRoutes(app, simulation);
}

function isToken(given: string | string[] | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(token));
}
