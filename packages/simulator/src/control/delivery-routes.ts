import type { FastifyInstance } from 'fastify';
import type { OwnEvent } from '../deliveries/event-dispatcher.ts';
import type { Simulation } from '../simulation.ts';
import { deliveryPage, findDeliveries, latest, limitOf, type Query } from './delivery-search.ts';
import { parseFields } from './parse-fields.ts';
import { deliverySummary, deliveryView } from './views.ts';

type One = { Params: { id: string } };

const OWN_EVENT = { ruleId: 'string', actionId: 'string', body: 'string' } as const;

/** Deliveries. The list holds the last `limit` that match, the oldest first. */
export function deliveryRoutes(app: FastifyInstance, simulation: Simulation): void {
  const { log, dispatcher, inFlight, rules } = simulation;
  app.get<{ Querystring: Query }>('/deliveries', ({ query }) => {
    const limit = limitOf(query);
    return latest(findDeliveries(simulation, query), limit).map(deliverySummary(simulation));
  });
  app.get<{ Querystring: Query }>('/deliveries/page', ({ query }) =>
    deliveryPage(simulation, query),
  );
  app.post('/deliveries', ({ body }, reply) =>
    reply.code(201).send(dispatcher.send(parseFields<OwnEvent>(body, OWN_EVENT))),
  );
  app.post('/deliveries/settled', async () => {
    await inFlight.waitForAll();
    return { counts: log.counts() };
  });
  // A delivery that was sent again before is left out; if that failed too, its copy is sent again.
  app.post<{ Querystring: Query }>('/deliveries/resend-failed', ({ query }) => {
    const again = new Set(
      log.list().map(({ copyOf, copiedBy }) => copiedBy === 'resend' && copyOf),
    );
    const sent = findDeliveries(simulation, { ...query, state: 'failed' }).filter(
      ({ _id, ruleId, actionId }) =>
        !again.has(_id) && rules.find(ruleId)?.actions.some((one) => one._id === actionId),
    );
    for (const { _id } of sent) dispatcher.resend(_id);
    return { resent: sent.length };
  });
  app.get<One>('/deliveries/:id', ({ params }) => deliveryView(log.get(params.id), simulation));
  app.post<One>('/deliveries/:id/resend', ({ params, body }, reply) => {
    const edited = parseFields<{ body?: string }>(body, { body: 'string' });
    return reply.code(201).send(dispatcher.resend(params.id, edited.body));
  });
}
