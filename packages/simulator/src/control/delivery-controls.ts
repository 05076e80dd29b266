import type { FastifyInstance } from 'fastify';
import type { DeliveryFilter } from '../deliveries/delivery-log.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';
import { deliverySummary } from './views.ts';

type Query = Record<string, unknown>;

function filterOf(query: Query): DeliveryFilter {
  const text = (name: string) => (typeof query[name] === 'string' ? query[name] : undefined);
  return {
    state: text('state') as DeliveryFilter['state'],
    ruleId: text('ruleId'),
    callId: text('callId'),
    eventName: text('eventName'),
  };
}

function limitOf({ limit = '100' }: Query): number {
  if (typeof limit === 'string' && /^\d{1,7}$/.test(limit)) return Number(limit);
  throw new SimulatorError('invalid-input', 'limit is a whole number.');
}

type OfOne = { Params: { id: string } };

/** What was sent: the last `limit` that match, the oldest first. */
export function deliveryControls(
  app: FastifyInstance,
  { log, announcer, inFlight }: Simulation,
): void {
  app.get<{ Querystring: Query }>('/deliveries', ({ query }) => {
    const limit = limitOf(query);
    const found = log.list(filterOf(query));
    return found.slice(Math.max(0, found.length - limit)).map(deliverySummary);
  });
  app.post('/deliveries/landed', async () => {
    await inFlight.landed();
    return { counts: log.counts() };
  });
  app.get<OfOne>('/deliveries/:id', ({ params }) => log.get(params.id));
  app.post<OfOne>('/deliveries/:id/resend', ({ params }, reply) =>
    reply.code(201).send(announcer.resend(params.id)),
  );
}
