import type { FastifyInstance } from 'fastify';
import type { Simulation } from '../simulation.ts';
import { callControls } from './call-controls.ts';
import { clockControls } from './clock-controls.ts';
import { deliveryControls } from './delivery-controls.ts';
import { ruleControls } from './rule-controls.ts';
import { sessionControls, type Session } from './session-controls.ts';
import { stateView } from './state.ts';
import { stream } from './stream.ts';

/** The control API: everything that a `Simulator` can do, over HTTP. It is ours, and no part of the spec. */
export function control(app: FastifyInstance, simulation: Simulation, session: Session): void {
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    return Promise.resolve();
  });
  app.get('/state', () => stateView(simulation));
  stream(app, simulation);
  ruleControls(app, simulation);
  callControls(app, simulation);
  deliveryControls(app, simulation);
  clockControls(app, simulation);
  sessionControls(app, session);
}
