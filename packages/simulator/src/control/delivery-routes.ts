import type { FastifyInstance } from 'fastify';
import type { DeliveryFilter } from '../deliveries/delivery-log.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';
import { deliverySummary, deliveryView, receiverOf } from './views.ts';

type Query = Record<string, unknown>;

function parseFilter(query: Query): DeliveryFilter {
  const text = (name: string) => (typeof query[name] === 'string' ? query[name] : undefined);
  return {
    state: text('state') as DeliveryFilter['state'],
    ruleId: text('ruleId'),
    callId: text('callId'),
    eventName: text('eventName'),
  };
}

function parseLimit({ limit = '100' }: Query): number {
  if (typeof limit === 'string' && /^\d{1,7}$/.test(limit)) return Number(limit);
  throw new SimulatorError('invalid-input', 'limit must be a whole number.');
}

type One = { Params: { id: string } };

/** Deliveries. The list holds the last `limit` that match, the oldest first. */
export function deliveryRoutes(
  app: FastifyInstance,
  { log, rules, dispatcher, inFlight }: Simulation,
): void {
  app.get<{ Querystring: Query }>('/deliveries', ({ query }) => {
    const limit = parseLimit(query);
    const found = log
      .list(parseFilter(query))
      .filter((one) => typeof query['url'] !== 'string' || receiverOf(one, rules) === query['url']);
    return found.slice(Math.max(0, found.length - limit)).map(deliverySummary(rules));
  });
  app.post('/deliveries/settled', async () => {
    await inFlight.waitForAll();
    return { counts: log.counts() };
  });
  app.get<One>('/deliveries/:id', ({ params }) => deliveryView(log.get(params.id), rules));
  app.post<One>('/deliveries/:id/resend', ({ params }, reply) =>
    reply.code(201).send(dispatcher.resend(params.id)),
  );
}
