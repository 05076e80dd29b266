import { serve } from './server.ts';
import { settingsOf } from './settings.ts';
import { Simulation } from './simulation.ts';
import { deliveriesOf, type Simulator } from './simulator.ts';
import type { SimulatorOptions } from './options.ts';

/**
 * Starts the service on this machine: rules, calls, signed deliveries with retries and pauses, the
 * REST endpoints, and the inspector.
 * @throws SimulatorError `invalid-input` for a wrong option, `bad-snapshot`; what `listen` throws
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = settingsOf(options);
  const simulation = new Simulation(settings);
  const apiToken = settings.apiToken ?? simulation.draws.id('api-token');
  const server = await serve(simulation, apiToken);
  simulation.baseUrl = server.url;
  const { rules, calls, messages, outbox, clock, chaos, secrets } = simulation;
  return {
    url: server.url,
    apiToken,
    seed: settings.seed,
    rules,
    calls,
    messages,
    deliveries: deliveriesOf(simulation),
    outbox,
    clock,
    chaos,
    secrets,
    reset() {
      simulation.reset();
    },
    async close() {
      clock.close();
      simulation.courier.abandonAll();
      await server.close();
    },
  };
}
