import type { FastifyInstance } from 'fastify';
import type { ActionInput, RuleInput } from '../rules/rule.ts';
import type { Simulation } from '../simulation.ts';
import { fieldsOf } from './input.ts';
import type { SecretsView } from './view-types.ts';

const RECORDING_WEBHOOK = { url: 'string', signed: 'boolean', secret: 'string' } as const;
const ACTION = { ...RECORDING_WEBHOOK, payload: 'any' } as const;

const actionOf = (input: unknown) => fieldsOf<ActionInput>(input, ACTION);

function ruleOf(input: unknown): RuleInput {
  const rule = fieldsOf<RuleInput>(input, {
    trigger: 'string',
    scope: 'string',
    ownerId: 'string',
    name: 'string',
    actions: 'array',
  });
  return { ...rule, actions: rule.actions?.map(actionOf) };
}

type OfRule = { Params: { id: string } };
type OfAction = { Params: { id: string; actionId: string } };

/** Rules, their actions, and the secrets of those. Secrets are told only where they are asked for. */
export function ruleControls(app: FastifyInstance, { rules, secrets }: Simulation): void {
  app.get('/rules', () => rules.list());
  app.get<OfRule>('/rules/:id', ({ params }) => rules.get(params.id));
  app.post('/rules', ({ body }, reply) => reply.code(201).send(rules.create(ruleOf(body))));
  app.post<OfRule>('/rules/:id/actions', ({ params, body }, reply) =>
    reply.code(201).send(rules.addAction(params.id, actionOf(body))),
  );
  app.post<OfRule>('/rules/:id/pause', ({ params }) => rules.pause(params.id));
  app.post<OfRule>('/rules/:id/resume', ({ params }) => rules.resume(params.id));
  app.post('/recording-webhook', ({ body }, reply) =>
    reply
      .code(201)
      .send(
        rules.setRecordingWebhook(fieldsOf<Omit<ActionInput, 'payload'>>(body, RECORDING_WEBHOOK)),
      ),
  );
  app.post('/forward', ({ body }, reply) => {
    const fields = fieldsOf<{ url: string; secret?: string }>(body, {
      url: 'string',
      secret: 'string',
    });
    return reply.code(201).send(rules.forwardTo(fields.url, { secret: fields.secret }));
  });

  app.get('/secrets', (): SecretsView =>
    Object.fromEntries(
      rules
        .list()
        .flatMap(({ actions }) => actions)
        .map(({ _id }) => [_id, secrets.get(_id) ?? null]),
    ),
  );
  app.post<OfAction>('/rules/:id/actions/:actionId/rotate', ({ params }) => ({
    signingSecret: secrets.rotate(rules.action(params.id, params.actionId)._id),
  }));
}
