import type { FastifyInstance } from 'fastify';
import type { ActionChanges, ActionInput, RuleChanges, RuleInput } from '../rules/rule.ts';
import type { Simulation } from '../simulation.ts';
import { parseFields } from './parse-fields.ts';
import type { SecretsView } from './view-types.ts';

const RECORDING_WEBHOOK = { url: 'string', signed: 'boolean', secret: 'string' } as const;
const ACTION = { ...RECORDING_WEBHOOK, payload: 'any' } as const;
const RULE_CHANGES = {
  trigger: 'string',
  scope: 'string',
  ownerId: 'string',
  name: 'string',
} as const;
const RULE = { ...RULE_CHANGES, actions: 'array' } as const;

function parseRule(body: unknown): RuleInput {
  const rule = parseFields<RuleInput>(body, RULE);
  const actions = rule.actions?.map((action) => parseFields<ActionInput>(action, ACTION));
  return { ...rule, actions };
}

type OneRule = { Params: { id: string } };
type OneAction = { Params: { id: string; actionId: string } };

/** Rules, actions and secrets. No other route of the control API shows a secret. */
export function ruleRoutes(app: FastifyInstance, { rules, secrets }: Simulation): void {
  app.get('/rules', () => rules.list());
  app.get<OneRule>('/rules/:id', ({ params }) => rules.get(params.id));
  app.post('/rules', ({ body }, reply) => reply.code(201).send(rules.create(parseRule(body))));
  app.patch<OneRule>('/rules/:id', ({ params, body }) =>
    rules.update(params.id, parseFields<RuleChanges>(body, RULE_CHANGES)),
  );
  app.delete<OneRule>('/rules/:id', ({ params }, reply) => {
    rules.remove(params.id);
    return reply.code(204).send();
  });
  app.post<OneRule>('/rules/:id/pause', ({ params }) => rules.pause(params.id));
  app.post<OneRule>('/rules/:id/resume', ({ params }) => rules.resume(params.id));
  app.post('/recording-webhook', ({ body }, reply) => {
    const input = parseFields<Omit<ActionInput, 'payload'>>(body, RECORDING_WEBHOOK);
    return reply.code(201).send(rules.setRecordingWebhook(input));
  });
  app.post('/forward', ({ body }, reply) => {
    const fields = { url: 'string', secret: 'string' } as const;
    const { url, secret } = parseFields<{ url: string; secret?: string }>(body, fields);
    return reply.code(201).send(rules.forwardTo(url, { secret }));
  });

  app.post<OneRule>('/rules/:id/actions', ({ params, body }, reply) =>
    reply.code(201).send(rules.addAction(params.id, parseFields<ActionInput>(body, ACTION))),
  );
  app.patch<OneAction>('/rules/:id/actions/:actionId', ({ params, body }) =>
    rules.updateAction(params.id, params.actionId, parseFields<ActionChanges>(body, ACTION)),
  );
  app.delete<OneAction>('/rules/:id/actions/:actionId', ({ params }, reply) => {
    rules.removeAction(params.id, params.actionId);
    return reply.code(204).send();
  });
  app.post<OneAction>('/rules/:id/actions/:actionId/rotate', ({ params }) => ({
    signingSecret: secrets.rotate(rules.action(params.id, params.actionId)._id),
  }));
  app.get('/secrets', (): SecretsView =>
    Object.fromEntries(
      rules
        .list()
        .flatMap(({ actions }) => actions)
        .map(({ _id }) => [_id, secrets.get(_id) ?? null]),
    ),
  );
}
