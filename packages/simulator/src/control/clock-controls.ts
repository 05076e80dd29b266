import type { FastifyInstance } from 'fastify';
import type { ChaosSettings } from '../chaos/modes.ts';
import { CHAOS_MODES } from '../chaos/modes.ts';
import type { Duration } from '../clock/duration.ts';
import type { Simulation } from '../simulation.ts';
import { fieldsOf } from './input.ts';
import { clockView } from './views.ts';

const PROBABILITIES = Object.fromEntries(
  CHAOS_MODES.map((mode) => [mode, 'number'] as const),
) as Record<keyof ChaosSettings, 'number'>;

/** Time and chance. The answer of a turn comes when the clock has been turned. */
export function clockControls(app: FastifyInstance, simulation: Simulation): void {
  const { clock, chaos, outbox } = simulation;
  app.get('/clock', () => clockView(simulation));
  app.post('/clock/advance', async ({ body }) => {
    await clock.advance(fieldsOf<{ by?: Duration }>(body, { by: 'any' }).by ?? '');
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

  app.get('/chaos', () => chaos.get());
  app.patch('/chaos', ({ body }) =>
    chaos.set(fieldsOf<Partial<ChaosSettings>>(body, PROBABILITIES)),
  );
  app.post('/chaos/clear', () => chaos.clear());

  app.get('/outbox', () => outbox.list());
  app.post('/reset', () => {
    simulation.reset();
    return clockView(simulation);
  });
}
