import { OUTCOMES } from '@call-webhooks/core';
import type { FastifyInstance } from 'fastify';
import { CHAOS_MODES, type ChaosMode, type ChaosSettings } from '../chaos/chaos.ts';
import type { Duration } from '../clock/duration.ts';
import type { Simulation } from '../simulation.ts';
import { callRoutes } from './call-routes.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { parseFields } from './parse-fields.ts';
import { ruleRoutes } from './rule-routes.ts';
import { streamRoute } from './stream.ts';
import type { OutcomesView } from './view-types.ts';
import { clockView, stateView } from './views.ts';

/** What the control API needs besides the simulation. */
export interface Session {
  readonly apiToken: string;
  readonly close: () => Promise<void>;
}

const PROBABILITIES = Object.fromEntries(
  CHAOS_MODES.map((mode) => [mode, 'number'] as const),
) as Record<ChaosMode, 'number'>;

/** The control API: everything that a `Simulator` can do, over HTTP. It is not part of the spec. */
export function controlApi(app: FastifyInstance, simulation: Simulation, session: Session): void {
  const { chaos, outbox } = simulation;
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    return Promise.resolve();
  });
  app.get('/state', () => stateView(simulation));
  streamRoute(app, simulation);
  ruleRoutes(app, simulation);
  callRoutes(app, simulation);
  deliveryRoutes(app, simulation);
  clockRoutes(app, simulation);

  app.get('/chaos', () => chaos.get());
  app.patch('/chaos', ({ body }) =>
    chaos.set(parseFields<Partial<ChaosSettings>>(body, PROBABILITIES)),
  );
  app.post('/chaos/clear', () => chaos.clear());
  app.get('/outbox', () => outbox.list());
  app.get('/outcomes', (): OutcomesView => OUTCOMES);

  app.get('/api-token', () => ({ apiToken: session.apiToken }));
  app.post('/reset', () => {
    simulation.reset();
    return clockView(simulation);
  });
  app.post('/close', (_request, reply) => {
    // `Simulator.closed` reports the end, and any error.
    reply.raw.once('finish', () => void session.close().catch(() => undefined));
    return reply.code(202).send({ closing: true });
  });
}

/** The routes respond when the clock has advanced. */
function clockRoutes(app: FastifyInstance, simulation: Simulation): void {
  const { clock } = simulation;
  app.get('/clock', () => clockView(simulation));
  app.post('/clock/advance', async ({ body }) => {
    await clock.advance(parseFields<{ by?: Duration }>(body, { by: 'any' }).by ?? '');
    return clockView(simulation);
  });
  app.post('/clock/next', async () => {
    await clock.next();
    return clockView(simulation);
  });
  app.post('/clock/run-until-idle', async () => {
    await clock.runUntilIdle();
    return clockView(simulation);
  });
}
