import { OUTCOMES } from '@call-webhooks/core';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import type { ActivityInput, MessageInput } from '../activity/messages.ts';
import type { CallInput, PlacedCallInput } from '../calls/calls.ts';
import type { ChaosSettings } from '../chaos.ts';
import { duration } from '../clock/clock.ts';
import { checked, text } from '../errors.ts';
import { FORWARD, type ActionChanges, type ActionInput, type RuleInput } from '../rules/rules.ts';
import type { Simulation } from '../simulation.ts';
import { latest, queryOf, search } from './search.ts';
import { streamRoute } from './stream.ts';
import {
  clockView,
  eventSummary,
  eventView,
  stateView,
  type OutcomesView,
  type SecretsView,
} from './views.ts';

/** What the control API needs besides the simulation. */
export interface Session {
  readonly apiToken: string;
  readonly close: () => Promise<void>;
}

/**
 * The control API: everything that a `Simulator` can do, over HTTP. It is not part of the spec. The
 * methods of the simulation check what they are given, so most bodies are passed on as they are.
 */
export function controlApi(app: FastifyInstance, simulation: Simulation, session: Session): void {
  const { chaos, outbox } = simulation;
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
  app.get('/state', ({ query }) => stateView(simulation, queryOf(query)));
  streamRoute(app, simulation);
  ruleRoutes(app, simulation);
  actionRoutes(app, simulation);
  callRoutes(app, simulation);
  messageRoutes(app, simulation);
  eventRoutes(app, simulation);
  clockRoutes(app, simulation);

  app.get('/chaos', () => chaos.get());
  app.patch<{ Body: Partial<ChaosSettings> }>('/chaos', ({ body }) => chaos.set(body));
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

type One = { Params: { id: string } };
type OneAction = { Params: { id: string; actionId: string } };
type Sent<Body> = { Body: Body };

function ruleRoutes(app: FastifyInstance, { rules }: Simulation): void {
  app.get('/rules', () => rules.list());
  app.get<One>('/rules/:id', ({ params }) => rules.get(params.id));
  app.post<Sent<RuleInput>>('/rules', ({ body }, reply) =>
    reply.code(201).send(rules.create(body)),
  );
  app.delete<One>('/rules/:id', ({ params }, reply) => {
    rules.remove(params.id);
    return reply.code(204).send();
  });
  app.post<One>('/rules/:id/pause', ({ params }) => rules.pause(params.id));
  app.post<One>('/rules/:id/resume', ({ params }) => rules.resume(params.id));
  app.post<Sent<ActionInput>>('/recording-webhook', ({ body }, reply) =>
    reply.code(201).send(rules.setRecordingWebhook(body)),
  );
  app.post('/forward', ({ body }, reply) => {
    const { url, secret } = checked(FORWARD, body);
    return reply.code(201).send(rules.forwardTo(url, { secret }));
  });
}

/** Actions and secrets. No other route of the control API shows a secret. */
function actionRoutes(app: FastifyInstance, { rules, secrets }: Simulation): void {
  app.post<One & Sent<ActionInput>>('/rules/:id/actions', ({ params, body }, reply) =>
    reply.code(201).send(rules.addAction(params.id, body)),
  );
  app.patch<OneAction & Sent<ActionChanges>>('/rules/:id/actions/:actionId', ({ params, body }) =>
    rules.updateAction(params.id, params.actionId, body),
  );
  app.delete<OneAction>('/rules/:id/actions/:actionId', ({ params }, reply) => {
    rules.removeAction(params.id, params.actionId);
    return reply.code(204).send();
  });
  app.post<OneAction>('/rules/:id/actions/:actionId/rotate', ({ params }) => ({
    signingSecret: secrets.rotate(rules.action(params.id, params.actionId)._id),
  }));
  app.get('/secrets', (): SecretsView => {
    const actions = rules.list().flatMap((rule) => rule.actions);
    return Object.fromEntries(actions.map(({ _id }) => [_id, secrets.get(_id) ?? null]));
  });
}

function callRoutes(app: FastifyInstance, { calls }: Simulation): void {
  app.get('/calls', ({ query }) => latest(calls.list(), queryOf(query).limit));
  app.get<One>('/calls/:id', ({ params }) => calls.get(params.id));
  app.post<Sent<PlacedCallInput>>('/calls', ({ body }, reply) =>
    reply.code(201).send(calls.place(body)),
  );
  app.post<Sent<CallInput>>('/calls/start', ({ body }, reply) =>
    reply.code(201).send(calls.start(body)),
  );
  app.post<One>('/calls/:id/end', ({ params }) => calls.end(params.id));
  app.post<One>('/calls/:id/recording', ({ params }) => calls.publishRecording(params.id));
}

function messageRoutes(app: FastifyInstance, { messages }: Simulation): void {
  app.get('/messages', () => messages.list());
  app.get<One>('/messages/:id', ({ params }) => ({
    ...messages.get(params.id),
    activities: messages.activities().filter(({ messageId }) => messageId === params.id),
  }));
  app.post<Sent<MessageInput>>('/messages', ({ body }, reply) =>
    reply.code(201).send(messages.send(body)),
  );
  app.post<One & Sent<ActivityInput>>('/messages/:id/activities', ({ params, body }, reply) =>
    reply.code(201).send(messages.record(params.id, body)),
  );
}

const EDITED = z.strictObject({ body: z.optional(text()) });

/** The list holds the last `limit` events that match, the oldest first. */
function eventRoutes(app: FastifyInstance, simulation: Simulation): void {
  const { log, dispatcher, inFlight, rules } = simulation;
  app.get('/events', ({ query }) => {
    const asked = queryOf(query);
    const { found } = search(simulation, asked);
    return latest(found, asked.limit).map(eventSummary(simulation));
  });
  app.post('/events/settled', async () => {
    await inFlight.waitForAll();
    return { counts: log.counts() };
  });
  // An event that was sent again before is left out; if that failed too, its copy is sent again.
  app.post('/events/resend-failed', ({ query }) => {
    const again = new Set(
      log.list().map(({ copyOf, copiedBy }) => copiedBy === 'resend' && copyOf),
    );
    const { found } = search(simulation, { ...queryOf(query), state: 'failed' });
    const sent = found.filter(
      ({ _id, ruleId, actionId }) =>
        !again.has(_id) && rules.find(ruleId)?.actions.some((one) => one._id === actionId),
    );
    for (const { _id } of sent) dispatcher.resend(_id);
    return { resent: sent.length };
  });
  app.get<One>('/events/:id', ({ params }) => eventView(log.get(params.id), simulation));
  app.post<One>('/events/:id/resend', ({ params, body }, reply) =>
    reply.code(201).send(dispatcher.resend(params.id, checked(EDITED, body).body)),
  );
}

const ADVANCE = z.strictObject({ by: duration() });

/** The routes respond when the clock has advanced. */
function clockRoutes(app: FastifyInstance, simulation: Simulation): void {
  const { clock } = simulation;
  app.get('/clock', () => clockView(simulation));
  app.post('/clock/advance', async ({ body }) => {
    await clock.advance(checked(ADVANCE, body).by);
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
